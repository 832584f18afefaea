// Compares passwords with hashes in a worker thread.
import type { Worker } from 'node:worker_threads';
import { Observable } from 'rxjs';
import { Fault, messageOf } from '../../errors.js';
import { threadOf } from '../../thread-code.js';
import type { StartThread } from '../../thread-code.js';

export interface Comparison {
  readonly id: number;
  readonly password: string;
  readonly hash: string;
}
export interface Compared {
  readonly id: number;
  readonly isSame: boolean;
}

/** Emits once whether `hash` is a hash of `password`. Errors if the thread fails. */
export type Compare = (password: string, hash: string) => Observable<boolean>;

export interface PasswordThread {
  readonly compare: Compare;
  /** Starts the thread unless it runs. The first comparison also starts it. */
  readonly start: () => void;
}

/** Compares passwords in one thread, in FIFO order. The thread never ends, since the system may refuse a new one. */
export function passwordThread(): PasswordThread {
  const startThread = threadOf(new URL('password-thread.js', import.meta.url));
  const pending = new Map<
    number,
    { next: (isSame: boolean) => void; fail: (error: Error) => void }
  >();
  let worker: Worker | undefined;
  let count = 0;
  const started = (): Worker => {
    const thread = startedThread(startThread);
    thread.on('message', ({ id, isSame }: Compared) => {
      pending.get(id)?.next(isSame);
      pending.delete(id);
    });
    const ended = (error: Error) => {
      if (worker !== thread) return;
      worker = undefined;
      const all = [...pending.values()];
      pending.clear();
      for (const { fail } of all) fail(error);
    };
    thread.on('error', ended);
    thread.on('exit', () => {
      ended(new Error('the thread that compares passwords ended'));
    });
    // Call unref() after adding the listeners, since each listener keeps the process alive again.
    thread.unref();
    return thread;
  };
  return {
    start: () => {
      worker ??= started();
    },
    compare: (password, hash) =>
      new Observable((subscriber) => {
        worker ??= started();
        const id = ++count;
        pending.set(id, {
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
      }),
  };
}

/** Starts the thread. @throws Fault NATIVE_FAILED if the system refuses it */
function startedThread(start: StartThread): Worker {
  try {
    return start();
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Fault('NATIVE_FAILED', `no thread can be started to compare passwords: ${reason}`, {
      cause,
    });
  }
}
