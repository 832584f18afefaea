// Limits the work between two yields. Every walk over a publisher's data takes its steps from a budget.
import { monotonicMs } from './clock.js';

/** The length of a time slice in milliseconds. */
export const SLICE_MS = 1;

export interface BudgetLimits {
  /** The maximum number of items that are visited, added or removed. */
  readonly steps?: number;
  /** The maximum number of bytes that are copied. */
  readonly bytes?: number;
  /** The maximum number of milliseconds since the budget was made. */
  readonly ms?: number;
  /**
   * The number of steps at the start that `ms` does not limit. So work advances even if the thread is often
   * preempted.
   */
  readonly leastSteps?: number;
  /**
   * The number of steps between two clock reads. Set it if a step is as short as a clock read. By default, each
   * check reads the clock.
   */
  readonly stepsPerClockRead?: number;
}

const UNLIMITED = {
  steps: Infinity,
  bytes: Infinity,
  ms: Infinity,
  leastSteps: 0,
  stepsPerClockRead: 0,
};

/**
 * A budget is spent when it reaches one of its limits. If a check precedes each item, work exceeds a limit by one
 * item at most.
 */
export class Budget {
  readonly #nowMs: () => number;
  #limits: Required<BudgetLimits> = UNLIMITED;
  #startMs = 0;
  #steps = 0;
  #bytes = 0;
  /**
   * The milliseconds from the start to the last clock read, and the number of steps at which the clock is read
   * again.
   */
  #passedMs = 0;
  #nextRead = 0;

  /**
   * A budget without limits is never spent.
   * @param nowMs milliseconds of a monotonic clock
   */
  constructor(limits: BudgetLimits = {}, nowMs = monotonicMs) {
    this.#nowMs = nowMs;
    this.restart(limits);
  }

  /** Begins again with other limits. */
  restart(limits: BudgetLimits): void {
    this.#limits = { ...UNLIMITED, ...limits };
    this.#startMs = this.#limits.ms === Infinity ? 0 : this.#nowMs();
    this.#steps = this.#bytes = this.#passedMs = this.#nextRead = 0;
  }

  spend(steps: number, bytes = 0): void {
    this.#steps += steps;
    this.#bytes += bytes;
  }

  /** The number of bytes spent so far. */
  get bytes(): number {
    return this.#bytes;
  }

  get isSpent(): boolean {
    const { steps, bytes, ms, leastSteps } = this.#limits;
    return (
      this.#steps >= steps ||
      this.#bytes >= bytes ||
      (ms !== Infinity && this.#steps >= leastSteps && this.#hasLasted(ms))
    );
  }

  #hasLasted(ms: number): boolean {
    if (this.#steps >= this.#nextRead) {
      this.#passedMs = this.#nowMs() - this.#startMs;
      this.#nextRead = this.#steps + this.#limits.stepsPerClockRead;
    }
    return this.#passedMs >= ms;
  }
}
