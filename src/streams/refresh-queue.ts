// The queue of a partition: runs turns of its targets on the scheduler of its thread, and measures them. Spec 1.10, 2.5.
import type { Observable } from 'rxjs';
import { monotonicMs } from '../clock.js';
import { SampleWindow } from '../exposition/sample-window.js';
import type { Durations } from '../exposition/sample-window.js';
import type { Scheduler } from './scheduler.js';

/** A turn of a target. */
export interface Turn<T> {
  readonly steps: () => Generator<void, T>;
  /** When the wait began, by `nowMs` of the queue. */
  readonly sinceMs: number;
  /** Whether a client waits for it. */
  readonly isUrgent: () => boolean;
  /** Called with the milliseconds that its steps took. */
  readonly took: (ms: number) => void;
}

export class RefreshQueue {
  readonly #scheduler: Scheduler;
  readonly #now: () => number;
  readonly #waits = new SampleWindow();
  readonly #startedMs: number;
  #busyMs = 0;

  /** @param now milliseconds of a clock that does not step */
  constructor(scheduler: Scheduler, now = monotonicMs) {
    this.#scheduler = scheduler;
    this.#now = now;
    this.#startedMs = now();
  }

  /** Milliseconds of the queue's clock. */
  get nowMs(): number {
    return this.#now();
  }

  /** How long refreshes waited for their turn. */
  get waits(): Durations {
    return this.#waits.durations;
  }

  /** Time spent on refreshes, divided by the time spent waiting for one. */
  get busyIdleRatio(): number {
    const idleMs = this.#now() - this.#startedMs - this.#busyMs;
    return idleMs > 0 ? this.#busyMs / idleMs : 0;
  }

  /** Emits the result of the steps. */
  run<T>(turn: Turn<T>): Observable<T> {
    return this.#scheduler.run(() => this.#measured(turn), turn.isUrgent);
  }

  *#measured<T>({ steps, sinceMs, took }: Turn<T>): Generator<void, T> {
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
        took(tookMs);
        return value;
      }
      yield;
    }
  }
}
