// The thread pool of libuv, in which blocking system calls of Node.js run.
import { stat } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { Fault } from '../../errors.js';
import { tryThreads } from './libc.js';

/** libuv's own default, and its maximum. */
const THREADS = 4;
const MAX_THREADS = 1024;

/**
 * Starts all threads of the pool. By itself, libuv starts them at the first call that needs one, and aborts the
 * process if the system refuses them.
 * @param size the environment variable UV_THREADPOOL_SIZE
 * @throws Fault NATIVE_FAILED when the system refuses them now
 */
export function startThreadPool(size: string | undefined): void {
  const count =
    size === undefined ? THREADS : Math.max(1, Math.min(parseInt(size) || 1, MAX_THREADS));
  const errno = tryThreads(count);
  if (errno !== 0)
    throw new Fault(
      'NATIVE_FAILED',
      `the system refuses ${count} more threads (${getSystemErrorName(-errno)}): raise the limit of processes (ulimit -u, TasksMax of the unit, pids.max of the cgroup)`,
    );
  // Any call that needs a thread makes libuv start them all.
  stat('/', () => undefined);
}
