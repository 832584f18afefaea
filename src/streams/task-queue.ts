// The queue of a partition: runs tasks of its targets on the scheduler of the thread, and measures them. Spec 1.10, 2.5.
import { EMPTY, defer, exhaustMap, mergeAll, of, repeat, tap } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import { monotonicMs } from '../clock.js';
import { SampleWindow } from '../exposition/sample-window.js';
import type { Durations } from '../exposition/sample-window.js';
import type { Scheduler } from './scheduler.js';

interface TaskParts<T> {
  /** Starts the steps of a task, which return its results. */
  readonly steps: () => Generator<void, readonly T[]>;
  /** Whether a client waits for the results. */
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

  /**
   * Runs a task after an input, and emits its results. Runs one task at a time: the inputs that arrive during a task
   * share the next one.
   */
  runTasks<T>(parts: TaskParts<T>): OperatorFunction<unknown, T> {
    return (input$) =>
      defer(() => {
        /** The arrival of the first input for the next task. */
        let sinceMs: number | undefined;
        const start = (): number => {
          const waitedMs = this.#now() - (sinceMs ?? this.#now());
          sinceMs = undefined;
          return waitedMs;
        };
        const again = () => (sinceMs === undefined ? EMPTY : of(true));
        const task$ = this.#scheduler.run(() => this.#measured(parts, start), parts.isUrgent);
        return input$.pipe(
          tap(() => (sinceMs ??= this.#now())),
          exhaustMap(() => task$.pipe(repeat({ delay: again }))),
          mergeAll(),
        );
      });
  }

  /** @param start called when the steps start; returns the milliseconds for which the task waited */
  *#measured<T>(
    { steps, onEnd }: TaskParts<T>,
    start: () => number,
  ): Generator<void, readonly T[]> {
    this.#waits.add(start());
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
