// The processes that started us: npm, and the shell between it and us. Neither passes every signal on.
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
 * Tells whether npm, or the shell in which it runs us, has ended: the parent of whoever is left
 * behind changes. @param parent the id of our parent, now and whenever it is asked
 */
export function lineageWatch(parent: () => number): () => boolean {
  const first = parent();
  const shell = processOf(first);
  const isShell = shell !== undefined && SHELLS.has(shell.name);
  return () => parent() !== first || (isShell && processOf(first)?.parent !== shell.parent);
}
