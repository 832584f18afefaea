// What work may cost before others have their turn. Every walk over a publisher's data takes its steps from one.
import { performance } from 'node:perf_hooks';
import { runDelayMs } from './run-delay.js';

/** Milliseconds of work after which others have their turn, where work can be divided. */
export const SLICE_MS = 1;

export interface BudgetLimits {
  /** Items that are walked over, put or removed. */
  readonly steps?: number;
  /** Bytes that are copied. */
  readonly bytes?: number;
  /** Milliseconds of work from the first moment on; those in which others had the processor do not count. */
  readonly ms?: number;
  /** Steps that may always be taken, however long other processes keep the processor. */
  readonly leastSteps?: number;
  /** Steps between two looks at the clock, where to look takes as long as a step; by default it is always looked at. */
  readonly stepsALook?: number;
}

/** Spent as soon as one of its limits is reached. Whoever checks before each item overdraws it by one. */
export class Budget {
  readonly #limits: Required<BudgetLimits>;
  readonly #nowMs: () => number;
  readonly #delayMs: () => number;
  readonly #startMs: number;
  readonly #delayedMs: number;
  #steps = 0;
  #bytes = 0;
  /** The milliseconds of work at the last look, and when the next one is due. */
  #workedMs = 0;
  #nextLook = 0;

  /**
   * Without a limit it is never spent.
   * @param nowMs milliseconds of a clock that does not step
   * @param delayMs how many of them others had the processor; by default of this thread, if the clock is
   */
  constructor(
    {
      steps = Infinity,
      bytes = Infinity,
      ms = Infinity,
      leastSteps = 0,
      stepsALook = 0,
    }: BudgetLimits = {},
    nowMs?: () => number,
    delayMs: () => number = nowMs === undefined ? runDelayMs : () => 0,
  ) {
    this.#limits = { steps, bytes, ms, leastSteps, stepsALook };
    this.#nowMs = nowMs ?? (() => performance.now());
    this.#delayMs = delayMs;
    this.#startMs = ms === Infinity ? 0 : this.#nowMs();
    this.#delayedMs = ms === Infinity ? 0 : delayMs();
  }

  spend(steps: number, bytes = 0): void {
    this.#steps += steps;
    this.#bytes += bytes;
  }

  /** Those that were spent. */
  get bytes(): number {
    return this.#bytes;
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
      (ms !== Infinity && this.#steps >= leastSteps * share && this.#hasWorkedFor(ms * share))
    );
  }

  #hasWorkedFor(ms: number): boolean {
    if (this.#steps >= this.#nextLook) {
      this.#workedMs = this.#look(ms);
      this.#nextLook = this.#steps + this.#limits.stepsALook;
    }
    return this.#workedMs >= ms;
  }

  /** What others took is asked for only where it matters: it is a call of the system. */
  #look(ms: number): number {
    const sinceMs = this.#nowMs() - this.#startMs;
    return sinceMs < ms ? sinceMs : sinceMs - (this.#delayMs() - this.#delayedMs);
  }
}
