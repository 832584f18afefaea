// The processes that started us: npm, and a shell between it and us. Neither forwards every signal.
import { readFileSync } from 'node:fs';

const SHELLS = new Set(['sh', 'dash', 'bash']);

/** Name and parent of a process; undefined once it is gone. */
function processOf(pid: number): { readonly name: string; readonly parent: number } | undefined {
  try {
    const [, name = '', parent = ''] =
      /^\d+ \((.*)\) \S+ (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
    return { name, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

/**
 * Detects that npm, or its shell, has ended: the parent of an orphaned process changes.
 * @param parent returns the current id of our parent
 */
export function lineageWatch(parent: () => number): () => boolean {
  const first = parent();
  const shell = processOf(first);
  const isShell = shell !== undefined && SHELLS.has(shell.name);
  return () => parent() !== first || (isShell && processOf(first)?.parent !== shell.parent);
}
