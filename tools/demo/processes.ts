// Our programs as processes of the demo: started, read line by line, and ended together.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** How a process ended: with a status, or by a signal or a failure to start, as a sentence. */
export interface Ended {
  readonly status: number | undefined;
  readonly how: string;
}

interface Script {
  /** Below dist/. */
  readonly program: string;
  readonly args: readonly string[];
  readonly onLine: (line: string) => void;
  /** Called once. */
  readonly onEnd: (ended: Ended) => void;
}

const LIFELINE = new URL('lifeline.js', import.meta.url).href;

export class Children {
  readonly #node: string;
  readonly #running = new Set<ChildProcess>();
  #onEmpty: (() => void) | undefined;

  /** @param node the path of Node.js */
  constructor(node: string) {
    this.#node = node;
  }

  /** Starts a program that shares our stdout; its stderr comes line by line. None starts once all end. */
  start({ program, args, onLine, onEnd }: Script): void {
    if (this.#onEmpty !== undefined) return;
    const path = fileURLToPath(new URL(`../${program}`, import.meta.url));
    const child = spawn(this.#node, ['--import', LIFELINE, path, ...args], {
      // A process group of its own: Ctrl-C reaches only the demo, which then ends the others
      // itself.
      detached: true,
      stdio: ['pipe', 'inherit', 'pipe'],
    });
    this.#running.add(child);
    createInterface({ input: child.stderr }).on('line', onLine);
    const ended = (end: Ended) => {
      if (!this.#running.delete(child)) return;
      onEnd(end);
      if (this.#running.size === 0) this.#onEmpty?.();
    };
    // Its last output arrives before `close`, not before `exit`.
    child.once('close', (code, signal) => {
      ended({
        status: code ?? undefined,
        how: signal === null ? `with status ${code ?? 0}` : `by ${signal}`,
      });
    });
    child.once('error', ({ message }) => {
      ended({ status: undefined, how: `before it began: ${message}` });
    });
  }

  /** Sends all a signal. */
  signal(signal: NodeJS.Signals): void {
    for (const child of this.#running) child.kill(signal);
  }

  /**
   * Ends all; those that take longer than `patienceMs` are killed. Resolves once all have ended.
   */
  async end(patienceMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    const impatience = setTimeout(() => {
      this.signal('SIGKILL');
    }, patienceMs);
    this.signal('SIGTERM');
    await empty;
    clearTimeout(impatience);
  }
}

// The processes that started us: npm, and a shell between it and us. Neither forwards every signal.
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

// Reports the exporter's targets after the start: one line when one is lost, one when it is back.
export class ExporterNews {
  readonly #lost = new Set<string>();

  /** Converts a line of the exporter's log to a readable one; undefined for other lines. */
  of(line: string): string | undefined {
    const [, target = '', event = ''] =
      / (?:info|warning) (target \S+ on \S+) (waiting on .*|ready: .*)$/.exec(line) ?? [];
    if (event.startsWith('waiting') && !this.#lost.has(target)) {
      this.#lost.add(target);
      return `the exporter: ${target} is not ready: ${event}`;
    }
    if (event.startsWith('ready') && this.#lost.delete(target))
      return `the exporter: ${target} is ready again`;
    return undefined;
  }
}

// Limits how often a process is restarted.
const WINDOW_MS = 60_000;

export class Restarts {
  readonly #max: number;
  readonly #nowMs: () => number;
  #times: number[] = [];

  /** @param max restarts in any minute */
  constructor(max: number, nowMs: () => number) {
    this.#max = max;
    this.#nowMs = nowMs;
  }

  /** Uses one restart, if any is left. */
  take(): boolean {
    const now = this.#nowMs();
    this.#times = this.#times.filter((time) => now - time < WINDOW_MS);
    if (this.#times.length >= this.#max) return false;
    this.#times.push(now);
    return true;
  }
}
