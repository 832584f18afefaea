// What work may cost before other work has its turn. Every walk over a publisher's data takes its steps from one.
import { monotonicMs } from './clock.js';

/** Milliseconds of work after which other work has its turn, where work can be divided. */
export const SLICE_MS = 1;

export interface BudgetLimits {
  /** Items that are walked over, put or removed. */
  readonly steps?: number;
  /** Bytes that are copied. */
  readonly bytes?: number;
  /** Milliseconds from the first moment on. */
  readonly ms?: number;
  /** Steps that may always be taken, however long other processes keep the processor. */
  readonly leastSteps?: number;
  /** Steps between two reads of the clock, where a read takes as long as a step; by default each check reads it. */
  readonly stepsPerClockRead?: number;
}

/** Spent as soon as one of its limits is reached. A check before each item overdraws it by one item at most. */
export class Budget {
  readonly #limits: Required<BudgetLimits>;
  readonly #nowMs: () => number;
  readonly #startMs: number;
  #steps = 0;
  #bytes = 0;
  /** The milliseconds that had passed at the last read of the clock, and the steps at which the next is due. */
  #passedMs = 0;
  #nextRead = 0;

  /**
   * Without a limit it is never spent.
   * @param nowMs milliseconds of a clock that does not step
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

  /** Those that were spent. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Until they are spent; time may be over before. */
  get stepsLeft(): number {
    return this.#limits.steps - this.#steps;
  }

  get isSpent(): boolean {
    return this.#hasSpent(1);
  }

  /** Whether half of it is spent, for work that comes first and must not take all. */
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
