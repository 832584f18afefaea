// Reads the code of each thread once: an upgrade may replace or remove the file while the process runs.
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { WorkerOptions } from 'node:worker_threads';
import { Fault, messageOf } from './errors.js';

export type StartThread = (options?: WorkerOptions) => Worker;

/** The remedy when the system refuses to start a thread. */
export const MORE_THREADS =
  'raise the limit on processes (ulimit -u, TasksMax of the unit, pids.max of the cgroup)';

/**
 * Reads the code of a thread and returns a function that starts it. Bundled code needs no other file; code that
 * imports other modules is loaded from its file at each start. The function throws a Fault NATIVE_FAILED if the
 * system refuses the thread.
 */
export function threadOf(file: URL): StartThread {
  const code = readFileSync(file, 'utf8');
  if (/^import /m.test(code)) return (options) => startThread(() => new Worker(file, options));
  // Wrap the code in a function, as Node.js does with a file: the global variables of a script are slower.
  const text = `(function(){${code}\n})()`;
  return (options) => startThread(() => new Worker(text, { ...options, eval: true }));
}

/** If the system refuses a thread, adds the remedy to the error. Node.js names EAGAIN in such an error. */
export function startThread(start: () => Worker): Worker {
  try {
    return start();
  } catch (cause) {
    const message = messageOf(cause);
    if (!message.includes('EAGAIN')) throw cause;
    throw new Fault('NATIVE_FAILED', `${message}: ${MORE_THREADS}`, { cause });
  }
}
