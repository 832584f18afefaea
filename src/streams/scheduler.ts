// Runs tasks in time slices, between iterations of the event loop.
import { Observable } from 'rxjs';
import { SLICE_MS } from '../budget.js';
import { monotonicMs } from '../clock.js';

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
