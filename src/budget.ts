// What work may cost before others have their turn. Every walk over a publisher's data takes its steps from one.
import { performance } from 'node:perf_hooks';

/** Milliseconds of work after which others have their turn, where work can be divided. */
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
}

/** Spent as soon as one of its limits is reached. Whoever checks before each item overdraws it by one. */
export class Budget {
  readonly #limits: Required<BudgetLimits>;
  readonly #nowMs: () => number;
  readonly #startMs: number;
  #steps = 0;
  #bytes = 0;

  /** Without a limit it is never spent. */
  constructor(
    { steps = Infinity, bytes = Infinity, ms = Infinity, leastSteps = 0 }: BudgetLimits = {},
    nowMs: () => number = () => performance.now(),
  ) {
    this.#limits = { steps, bytes, ms, leastSteps };
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
      (ms !== Infinity &&
        this.#steps >= leastSteps * share &&
        this.#nowMs() - this.#startMs >= ms * share)
    );
  }
}
