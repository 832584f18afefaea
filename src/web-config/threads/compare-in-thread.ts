// Compares passwords with hashes in a thread, which is there while it has work.
import { Worker } from 'node:worker_threads';
import { Observable } from 'rxjs';

export interface Comparison {
  readonly id: number;
  readonly password: string;
  readonly hash: string;
}
export interface Compared {
  readonly id: number;
  readonly isSame: boolean;
}

/** The thread ends when it had nothing to do for so long. */
const IDLE_MS = 10_000;

/** Emits once, whether the password is the one that the hash was made of. Errors when the thread fails. */
export type Compare = (password: string, hash: string) => Observable<boolean>;

/** Makes a function that compares one after the other. */
export function compareInThread(): Compare {
  const waiting = new Map<
    number,
    { next: (isSame: boolean) => void; fail: (error: Error) => void }
  >();
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let count = 0;
  const rest = () => {
    if (waiting.size > 0) return;
    clearTimeout(idle);
    idle = setTimeout(() => {
      void worker?.terminate();
      worker = undefined;
    }, IDLE_MS).unref();
  };
  const started = (): Worker => {
    const thread = new Worker(new URL('password-thread.js', import.meta.url));
    thread.on('message', ({ id, isSame }: Compared) => {
      waiting.get(id)?.next(isSame);
      waiting.delete(id);
      rest();
    });
    const ended = (error: Error) => {
      if (worker !== thread) return;
      worker = undefined;
      const all = [...waiting.values()];
      waiting.clear();
      for (const { fail } of all) fail(error);
    };
    thread.on('error', ended);
    thread.on('exit', () => {
      ended(new Error('the thread that compares passwords ended'));
    });
    // Last: a listener keeps the process alive again.
    thread.unref();
    return thread;
  };
  return (password, hash) =>
    new Observable((subscriber) => {
      clearTimeout(idle);
      worker ??= started();
      const id = ++count;
      waiting.set(id, {
        next: (isSame) => {
          subscriber.next(isSame);
          subscriber.complete();
        },
        fail: (error) => {
          subscriber.error(error);
        },
      });
      const comparison: Comparison = { id, password, hash };
      worker.postMessage(comparison);
    });
}
