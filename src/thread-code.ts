// Reads the code of threads once, since an upgrade may replace or remove its file while the process runs.
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { WorkerOptions } from 'node:worker_threads';

export type StartThread = (options?: WorkerOptions) => Worker;

/**
 * Reads the code of a thread and returns a function that starts it. Bundled code needs no other file; code that
 * imports other modules is loaded from its file at each start.
 */
export function threadOf(file: URL): StartThread {
  const code = readFileSync(file, 'utf8');
  if (/^import /m.test(code)) return (options) => new Worker(file, options);
  // In a function, as Node.js wraps a file: global variables of a script are slower.
  const text = `(function(){${code}\n})()`;
  return (options) => new Worker(text, { ...options, eval: true });
}
