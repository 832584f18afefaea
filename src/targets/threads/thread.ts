// The entry point of a partition's thread: connects a `PartitionThread` to the messages of the main thread.
import { parentPort, workerData } from 'node:worker_threads';
import { Observable } from 'rxjs';
import { monotonicMs } from '../../clock.js';
import { shareKernelCode } from '../../exposition/wasm/kernel.js';
import { Scheduler } from '../../streams/scheduler.js';
import type { ThreadSetup, ToThread } from './messages.js';
import { PartitionThread } from './partition-thread.js';

const setup = workerData as ThreadSetup;
if (setup.kernel !== undefined) shareKernelCode(setup.kernel);
const thread = new PartitionThread({ setup, tasks: new Scheduler(), nowMs: monotonicMs });
const message$ = new Observable<ToThread>((subscriber) => {
  parentPort?.on('message', (message: ToThread) => {
    subscriber.next(message);
  });
});
thread.run(message$).subscribe({
  next: (message) => parentPort?.postMessage(message),
  error: (error: unknown) => {
    throw error;
  },
});
