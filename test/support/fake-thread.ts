// Stand-ins for partition threads: one sends the messages that the test chooses, the other runs a partition
// in virtual time.
import { EventEmitter } from 'node:events';
import { Subject } from 'rxjs';
import type { SchedulerLike, Subscription } from 'rxjs';
import type { FromThread, ThreadSetup, ToThread } from '#app/targets/threads/messages.js';
import { PartitionThread } from '#app/targets/threads/partition-thread.js';
import type { ThreadWorker } from '#app/targets/threads/threaded-partition.js';
import { schedulerOf } from './scheduler-of.js';

/**
 * A worker thread whose part the test plays. As in Node.js, messages may still arrive after `terminate()` and
 * after an error. The event `exit` follows later, when the test emits it.
 */
export class FakeWorker extends EventEmitter implements ThreadWorker {
  readonly received: ToThread[] = [];
  isTerminated = false;

  postMessage(message: ToThread): void {
    this.received.push(message);
  }

  terminate(): void {
    this.isTerminated = true;
  }

  send(message: FromThread): void {
    this.emit('message', message);
  }
}

/** The time that a message takes from thread to thread. */
export const MESSAGE_MS = 2;
/** The time for which a thread keeps running after `terminate()`. */
const STOP_MS = 50;
/** The time between the end of a thread and its event `exit`. It is longer than the delay of a restart. */
export const EXIT_MS = 6000;

/** A worker thread whose partition runs in this thread, in virtual time. */
export class FakeThread extends EventEmitter implements ThreadWorker {
  readonly #clock: SchedulerLike;
  readonly #message$ = new Subject<ToThread>();
  readonly #subscription: Subscription;
  #isHanging = false;
  #isEnding = false;

  /** @param turnMs the time between two slices of its tasks */
  constructor(clock: SchedulerLike, setup: ThreadSetup, turnMs: number) {
    super();
    this.#clock = clock;
    const thread = new PartitionThread({
      setup,
      tasks: schedulerOf(clock, turnMs),
      scheduler: clock,
      nowMs: () => clock.now(),
    });
    this.#subscription = thread.run(this.#message$).subscribe({
      next: (message) => {
        if (!this.#isHanging) this.#later(MESSAGE_MS, () => this.emit('message', message));
      },
      error: (error: unknown) => {
        this.fail(error);
      },
    });
  }

  postMessage(message: ToThread): void {
    this.#later(MESSAGE_MS, () => {
      this.#message$.next(structuredClone(message));
    });
  }

  terminate(): void {
    this.#later(STOP_MS, () => {
      this.#subscription.unsubscribe();
    });
    this.#exitLater();
  }

  /** Ends with an uncaught error. Messages that it has already sent still arrive. */
  fail(error: unknown): void {
    if (this.#isEnding) return;
    this.#subscription.unsubscribe();
    this.emit('error', error);
    this.#exitLater();
  }

  /** Stops sending messages. */
  hang(): void {
    this.#isHanging = true;
  }

  #exitLater(): void {
    if (!this.#isEnding) this.#later(EXIT_MS, () => this.emit('exit', 1));
    this.#isEnding = true;
  }

  #later(ms: number, run: () => void): void {
    this.#clock.schedule(run, ms);
  }
}
