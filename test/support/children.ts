// Starts scripts of this folder as child processes, and ends them after each test.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PATIENCE_MS = 60_000;

export class Children {
  readonly #running = new Set<ChildProcess>();

  start(script: string, ...args: readonly string[]): ChildProcess {
    const path = fileURLToPath(new URL(`./${script}.js`, import.meta.url));
    const child = fork(path, args, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    return child;
  }

  /** Starts a script and waits for its first message, which says that it is ready. */
  async ready(script: string, ...args: readonly string[]): Promise<ChildProcess> {
    const child = this.start(script, ...args);
    await this.message(child);
    return child;
  }

  /** Sends `go` to a script, and returns its answer. */
  async go(child: ChildProcess): Promise<unknown> {
    const answer = this.message(child);
    child.send('go');
    return answer;
  }

  /** The next message that a script sends. */
  async message(child: ChildProcess): Promise<unknown> {
    const [message] = (await once(child, 'message', {
      signal: AbortSignal.timeout(PATIENCE_MS),
    })) as unknown[];
    return message;
  }

  async kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) });
    child.kill('SIGKILL');
    await ended;
  }

  async clear(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.kill(child)));
  }
}

/** Call inside `describe`, before the hooks that remove the files of the children. */
export function freshChildren(): Children {
  const children = new Children();
  afterEach(() => children.clear());
  return children;
}
