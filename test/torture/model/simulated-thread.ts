// SimulatedThread runs a partition thread inside this thread. Its messages have random delays.
import { EventEmitter } from 'node:events';
import { Subject } from 'rxjs';
import type { Subscription } from 'rxjs';
import type { FromThread, ToThread } from '#app/targets/threads/messages.js';
import { PartitionThread } from '#app/targets/threads/partition-thread.js';
import type { ThreadParts } from '#app/targets/threads/partition-thread.js';
import type { ThreadWorker } from '#app/targets/threads/threaded-partition.js';
import { DelayedQueue } from './delayed-queue.js';
import type { SeededClock } from './seeded-clock.js';

export class SimulatedThread extends EventEmitter implements ThreadWorker {
  readonly #to: DelayedQueue<ToThread>;
  readonly #from: DelayedQueue<FromThread>;
  readonly #subscription: Subscription;

  /** @param mostMs the longest delay of a message */
  constructor(clock: SeededClock, mostMs: number, parts: Omit<ThreadParts, 'scheduler' | 'nowMs'>) {
    super();
    const message$ = new Subject<ToThread>();
    this.#to = new DelayedQueue(clock, mostMs, (message) => {
      message$.next(message);
    });
    this.#from = new DelayedQueue(clock, mostMs, (message) => {
      this.emit('message', message);
    });
    const thread = new PartitionThread({ ...parts, scheduler: clock, nowMs: () => clock.now() });
    this.#subscription = thread.run(message$).subscribe({
      next: (message) => {
        this.#from.send(message);
      },
      error: (error: unknown) => {
        this.fail(error);
      },
    });
  }

  postMessage(message: ToThread): void {
    this.#to.send(message);
  }

  terminate(): void {
    this.#end();
    this.emit('exit', 1);
  }

  /** Ends with an error. Messages that have not arrived yet are lost. */
  fail(error: unknown): void {
    this.#end();
    this.emit('error', error);
    this.emit('exit', 1);
  }

  #end(): void {
    this.#to.end();
    this.#from.end();
    this.#subscription.unsubscribe();
  }
}
