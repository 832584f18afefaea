// The queue of a partition: runs tasks of its targets on the scheduler of the thread, and measures them. Spec 1.10, 2.5.
import type { Observable } from 'rxjs';
import { monotonicMs } from '../clock.js';
import { SampleWindow } from '../exposition/sample-window.js';
import type { Durations } from '../exposition/sample-window.js';
import type { Scheduler } from './scheduler.js';

interface QueuedTask<T> {
  readonly steps: () => Generator<void, T>;
  /** When the wait began, by `nowMs` of the queue. */
  readonly sinceMs: number;
  /** Whether a client waits for the result. */
  readonly isUrgent: () => boolean;
  /** Called with the milliseconds that the steps took. */
  readonly onEnd: (tookMs: number) => void;
}

export class TaskQueue {
  readonly #scheduler: Scheduler;
  readonly #now: () => number;
  readonly #waits = new SampleWindow();
  readonly #startedMs: number;
  #busyMs = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(scheduler: Scheduler, now = monotonicMs) {
    this.#scheduler = scheduler;
    this.#now = now;
    this.#startedMs = now();
  }

  /** Milliseconds of the queue's clock. */
  get nowMs(): number {
    return this.#now();
  }

  /** How long tasks waited. */
  get waits(): Durations {
    return this.#waits.durations;
  }

  /** The time spent in tasks, divided by the remaining time. */
  get busyIdleRatio(): number {
    const idleMs = this.#now() - this.#startedMs - this.#busyMs;
    return idleMs > 0 ? this.#busyMs / idleMs : 0;
  }

  /** Runs the steps, and emits their result. */
  run<T>(task: QueuedTask<T>): Observable<T> {
    return this.#scheduler.run(() => this.#measured(task), task.isUrgent);
  }

  *#measured<T>({ steps, sinceMs, onEnd }: QueuedTask<T>): Generator<void, T> {
    this.#waits.add(this.#now() - sinceMs);
    const all = steps();
    let tookMs = 0;
    for (;;) {
      const startedMs = this.#now();
      const { done, value } = all.next();
      const ms = this.#now() - startedMs;
      this.#busyMs += ms;
      tookMs += ms;
      if (done === true) {
        onEnd(tookMs);
        return value;
      }
      yield;
    }
  }
}
