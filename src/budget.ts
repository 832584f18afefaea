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

/** Counts the steps of work done for one target. All parts of the target share one instance. */
export class Cost {
  steps = 0;
}

/**
 * A budget is spent when it reaches one of its limits. If a check precedes each item, work exceeds a limit by one
 * item at most.
 */
export class Budget {
  readonly #limits: Required<BudgetLimits>;
  readonly #nowMs: () => number;
  readonly #startMs: number;
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
  constructor(
    {
      steps = Infinity,
      bytes = Infinity,
      ms = Infinity,
      leastSteps = 0,
      stepsPerClockRead = 0,
    }: BudgetLimits = {},
    nowMs = monotonicMs,
  ) {
    this.#limits = { steps, bytes, ms, leastSteps, stepsPerClockRead };
    this.#nowMs = nowMs;
    this.#startMs = ms === Infinity ? 0 : nowMs();
  }

  spend(steps: number, bytes = 0): void {
    this.#steps += steps;
    this.#bytes += bytes;
  }

  /** The number of bytes spent so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of steps left before the step limit. The time limit may be reached earlier. */
  get stepsLeft(): number {
    return this.#limits.steps - this.#steps;
  }

  get isSpent(): boolean {
    return this.#hasSpent(1);
  }

  /** Whether half of the budget is spent. A caller can reserve the first half for one kind of work. */
  get isHalfSpent(): boolean {
    return this.#hasSpent(0.5);
  }

  #hasSpent(share: number): boolean {
    const { steps, bytes, ms, leastSteps } = this.#limits;
    return (
      this.#steps >= steps * share ||
      this.#bytes >= bytes * share ||
      (ms !== Infinity && this.#steps >= leastSteps * share && this.#hasLasted(ms * share))
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
