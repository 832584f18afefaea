// What work may cost before others have their turn. Every walk over a publisher's data takes its steps from one.
import { monotonicMs } from './clock.js';
import { runDelay } from './run-delay.js';
import type { DelayClock } from './run-delay.js';

/** Milliseconds of work after which others have their turn, where work can be divided. */
export const SLICE_MS = 1;

/** Whom others keep from a processor waits for longer than that, and so does a collection of garbage. */
const MOMENT_MS = 0.5;

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
  /** Undefined where the clock leaves out what others took. */
  readonly #delay: DelayClock | undefined;
  readonly #startMs: number;
  /** What others had taken when anybody looked last, before this began. */
  readonly #othersBeforeMs: number;
  /** When the clock was looked at last, and how many milliseconds passed in jumps, more than a moment each. */
  #lastMs: number;
  #jumpedMs = 0;
  /** The first look at what others took: how much that was, and how long this has worked until then. */
  #firstLook:
    { readonly atMs: number; readonly delayMs: number; readonly workedMs: number } | undefined;
  #steps = 0;
  #bytes = 0;
  /** The milliseconds of work at the last look, and when the next one is due. */
  #workedMs = 0;
  #nextLook = 0;

  /**
   * Without a limit it is never spent.
   * @param nowMs milliseconds of a clock that does not step
   * @param delay how many of them others had the processor, by default those of this thread; a clock
   * of one's own has none by default
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
    delay: DelayClock | undefined = nowMs === undefined ? runDelay : undefined,
  ) {
    this.#limits = { steps, bytes, ms, leastSteps, stepsALook };
    this.#nowMs = nowMs ?? monotonicMs;
    this.#delay = delay;
    this.#startMs = ms === Infinity ? 0 : this.#nowMs();
    this.#lastMs = this.#startMs;
    this.#othersBeforeMs = delay?.lastMs ?? 0;
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
      (ms !== Infinity && this.#steps >= leastSteps * share && this.#hasWorkedFor(ms * share))
    );
  }

  #hasWorkedFor(ms: number): boolean {
    if (this.#steps >= this.#nextLook) {
      this.#workedMs = this.#look();
      this.#nextLook = this.#steps + this.#limits.stepsALook;
    }
    return this.#workedMs >= ms;
  }

  /**
   * What others took is a call of the system, so it is asked for only where it matters: once the time is
   * over, if the clock jumped meanwhile. What they took since anybody asked may be from before this began,
   * so that at first no more is left out for it than jumps, and half of the time.
   */
  #look(): number {
    const { ms } = this.#limits;
    const nowMs = this.#nowMs();
    const passedMs = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    if (passedMs > MOMENT_MS) this.#jumpedMs += passedMs;
    const sinceMs = nowMs - this.#startMs;
    const first = this.#firstLook;
    const delay = this.#delay;
    if (delay === undefined || (first === undefined && sinceMs < ms)) return sinceMs;
    if (first === undefined) {
      const delayMs = this.#jumpedMs === 0 ? delay.lastMs : delay.look();
      const othersMs = Math.min(delayMs - this.#othersBeforeMs, this.#jumpedMs, sinceMs - ms / 2);
      const workedMs = sinceMs - othersMs;
      this.#firstLook = { atMs: nowMs, delayMs, workedMs };
      return workedMs;
    }
    if (first.workedMs >= ms) return first.workedMs;
    const workedMs = first.workedMs + (nowMs - first.atMs);
    return workedMs < ms ? workedMs : workedMs - (delay.look() - first.delayMs);
  }
}
