// Runs tasks in time slices, between iterations of the event loop. Spec 1.10, 2.5.
import { EMPTY, Observable, defer, exhaustMap, mergeAll, of, repeat, tap } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import { SLICE_MS } from '../budget.js';
import { monotonicMs } from '../clock.js';
import { SampleWindow } from '../exposition/sample-window.js';
import type { Durations } from '../exposition/sample-window.js';

interface Task {
  /** Does a short step of the work; true once all work is done. */
  readonly step: () => boolean;
  /** Whether a client waits for the result; may change while the task waits. */
  readonly isUrgent: () => boolean;
  /** The time at which the task began to wait for its next slice. */
  sinceMs: number;
  isCancelled: boolean;
}

/** The longest time for which urgent tasks delay all others. */
const MAX_WAIT_MS = 10;
const never = (): boolean => false;

/**
 * A cooperative scheduler with time slices of a millisecond, in FIFO order. Urgent tasks go first, unless the other
 * tasks have had no slice for `MAX_WAIT_MS`. The event loop serves sockets and timers between slices. An idle
 * scheduler sets no timer.
 */
export class Scheduler {
  readonly #nowMs: () => number;
  readonly #yieldTo: (next: () => void) => void;
  /** The tasks that wait for a slice, in FIFO order. */
  readonly #waiting = new Set<Task>();
  #isArmed = false;
  /** The time of the last slice of a task that is not urgent. */
  #othersRanMs = -Infinity;

  /**
   * @param nowMs milliseconds of a monotonic clock
   * @param yieldTo calls back in the next iteration of the event loop
   */
  constructor(nowMs = monotonicMs, yieldTo: (next: () => void) => void = setImmediate) {
    this.#nowMs = nowMs;
    this.#yieldTo = yieldTo;
  }

  /**
   * Runs the steps, starting in the next iteration of the event loop. Emits their result. Unsubscribing cancels them.
   */
  run<T>(steps: () => Iterator<void, T>, isUrgent = never): Observable<T> {
    return new Observable((subscriber) => {
      const all = steps();
      const step = (): boolean => {
        try {
          const { done, value } = all.next();
          if (done !== true) return false;
          subscriber.next(value);
          subscriber.complete();
        } catch (error) {
          subscriber.error(error);
        }
        return true;
      };
      return this.start(step, isUrgent);
    });
  }

  /**
   * Repeats a short step until it returns true, starting in the next iteration of the event loop. Returns a function
   * that cancels the task.
   */
  start(step: () => boolean, isUrgent = never): () => void {
    const task = { step, isUrgent, sinceMs: 0, isCancelled: false };
    this.#add(task);
    return () => {
      task.isCancelled = true;
      this.#waiting.delete(task);
    };
  }

  #add(task: Task): void {
    task.sinceMs = this.#nowMs();
    this.#waiting.add(task);
    this.#arm();
  }

  #arm(): void {
    if (this.#isArmed || this.#waiting.size === 0) return;
    this.#isArmed = true;
    this.#yieldTo(() => {
      this.#isArmed = false;
      try {
        this.#runSlices();
      } finally {
        this.#arm();
      }
    });
  }

  /**
   * Runs one slice, and starts further slices during the first half of `SLICE_MS`. Starts at most as many slices as
   * there are waiting tasks at the start.
   */
  #runSlices(): void {
    const startMs = this.#nowMs();
    let left = this.#waiting.size;
    do {
      const task = this.#next(startMs);
      if (task === undefined) return;
      this.#waiting.delete(task);
      this.#runSlice(task, startMs + SLICE_MS);
    } while (--left > 0 && this.#nowMs() < startMs + SLICE_MS / 2);
  }

  /**
   * Returns the first urgent task. If there is none, or if other tasks have had no slice for `MAX_WAIT_MS`, returns the
   * first other task.
   */
  #next(nowMs: number): Task | undefined {
    let urgent: Task | undefined;
    let other: Task | undefined;
    for (const task of this.#waiting) {
      if (task.isUrgent()) urgent ??= task;
      else other ??= task;
      if (urgent !== undefined && other !== undefined) break;
    }
    if (other === undefined) return urgent;
    const waitedMs = nowMs - Math.max(other.sinceMs, this.#othersRanMs);
    if (urgent !== undefined && waitedMs < MAX_WAIT_MS) return urgent;
    this.#othersRanMs = nowMs;
    return other;
  }

  #runSlice(task: Task, endMs: number): void {
    do {
      if (task.step()) return;
    } while (!task.isCancelled && this.#nowMs() < endMs);
    if (!task.isCancelled) this.#add(task);
  }
}

/** The times of a task in milliseconds. */
export interface TaskTimes {
  readonly waitedMs: number;
  readonly tookMs: number;
}

interface TaskParts<T> {
  /** Starts the steps of a task, which return its results. */
  readonly steps: () => Generator<void, readonly T[]>;
  /** Whether a client waits for the results. */
  readonly isUrgent: () => boolean;
  /** Called when the task has ended. */
  readonly onEnd: (times: TaskTimes) => void;
}

/** The queue of a partition: runs tasks of its targets on the scheduler of the thread, and measures them. */
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
    const waitedMs = start();
    this.#waits.add(waitedMs);
    const all = steps();
    let tookMs = 0;
    for (;;) {
      const startedMs = this.#now();
      const { done, value } = all.next();
      const ms = this.#now() - startedMs;
      this.#busyMs += ms;
      tookMs += ms;
      if (done === true) {
        onEnd({ waitedMs, tookMs });
        return value;
      }
      yield;
    }
  }
}
