// The worker thread that compares passwords with hashes. A comparison takes up to a second.
import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { Comparison, Compared } from './compare-in-thread.js';

parentPort?.on('message', ({ id, password, hash }: Comparison) => {
  const compared: Compared = { id, isSame: compareSync(password, hash) };
  parentPort?.postMessage(compared);
});
