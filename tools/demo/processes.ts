// The child processes of the demo: starts them, reads their output, and ends them together.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** How a process ended: its exit status (undefined after a signal), and a phrase such as `by SIGKILL`. */
export interface Ended {
  readonly status: number | undefined;
  readonly how: string;
}

interface Script {
  /** The path below dist/. */
  readonly program: string;
  readonly args: readonly string[];
  /** Variables of its environment, in addition to those of the demo. */
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
  /** Called once, when the process has ended. */
  readonly onEnd: (ended: Ended) => void;
}

const END_WITH_PARENT = new URL('end-with-parent.js', import.meta.url).href;

export class Children {
  readonly #node: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #running = new Set<ChildProcess>();
  #onEmpty: (() => void) | undefined;

  /**
   * @param node the path of Node.js
   * @param environment the environment of the demo
   */
  constructor(node: string, environment: NodeJS.ProcessEnv) {
    this.#node = node;
    this.#environment = environment;
  }

  /** Starts a program that shares the demo's stdout. Does nothing after a call of `end`. */
  start({ program, args, env = {}, onLine, onEnd }: Script): void {
    if (this.#onEmpty !== undefined) return;
    const path = fileURLToPath(new URL(`../${program}`, import.meta.url));
    const child = spawn(this.#node, ['--import', END_WITH_PARENT, path, ...args], {
      // Ctrl-C must reach only the demo, which then ends its processes.
      detached: true,
      env: { ...this.#environment, ...env },
      stdio: ['pipe', 'inherit', 'pipe'],
    });
    this.#running.add(child);
    createInterface({ input: child.stderr }).on('line', onLine);
    const ended = (end: Ended) => {
      if (!this.#running.delete(child)) return;
      onEnd(end);
      if (this.#running.size === 0) this.#onEmpty?.();
    };
    // Wait for `close`, not for `exit`: the last output of the process may arrive after `exit`.
    child.once('close', (code, signal) => {
      ended({
        status: code ?? undefined,
        how: signal === null ? `with status ${code ?? 0}` : `by ${signal}`,
      });
    });
    child.once('error', ({ message }) => {
      ended({ status: undefined, how: `before it started: ${message}` });
    });
  }

  /** Sends a signal to all processes. */
  signal(signal: NodeJS.Signals): void {
    for (const child of this.#running) child.kill(signal);
  }

  /** Ends all processes. Kills each process that takes longer than `patienceMs`. Resolves once all have ended. */
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

const SHELLS = new Set(['sh', 'dash', 'bash']);

/** Name and parent of a process; undefined once the process has ended. */
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
 * Detects that npm, or the shell between npm and the demo, has ended: a parent process changes. Neither npm nor the
 * shell forwards every signal to the demo.
 * @param parent returns the current id of the demo's parent process
 */
export function parentWatch(parent: () => number): () => boolean {
  const first = parent();
  const shell = processOf(first);
  const isShell = shell !== undefined && SHELLS.has(shell.name);
  return () => parent() !== first || (isShell && processOf(first)?.parent !== shell.parent);
}

/** Reports when a target becomes unready after the start of the exporter, and when it is ready again. */
export class TargetReports {
  readonly #lost = new Set<string>();

  /** A readable sentence for a log line about a target's readiness; undefined for any other line. */
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

const WINDOW_MS = 60_000;

/** Limits the rate of restarts. */
export class Restarts {
  readonly #max: number;
  readonly #nowMs: () => number;
  #times: number[] = [];

  /** @param max the maximum number of restarts within one minute */
  constructor(max: number, nowMs: () => number) {
    this.#max = max;
    this.#nowMs = nowMs;
  }

  /** Counts a restart; returns false if the limit is already reached. */
  take(): boolean {
    const now = this.#nowMs();
    this.#times = this.#times.filter((time) => now - time < WINDOW_MS);
    if (this.#times.length >= this.#max) return false;
    this.#times.push(now);
    return true;
  }
}
