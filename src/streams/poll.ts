// Decides when a server key is polled next, and whether a poll found a change.
import type { PollResult } from './poller.js';

/** The poll period of a segment that changes, and the time without a change after which a segment is idle. */
export const ACTIVE_POLL_MS = 100;
export const IDLE_AFTER_MS = 1000;
/** The poll period of a segment that is idle or absent. */
export const IDLE_POLL_MS = 1000;

/** Decides when a segment is polled next. */
export class PollSchedule {
  readonly #now: () => number;
  #last: PollResult;
  #changedAt: number;

  /**
   * @param first the result of the first poll
   * @param now milliseconds of a monotonic clock; segments that share a clock are polled together
   */
  constructor(first: PollResult, now: () => number) {
    this.#now = now;
    this.#last = first;
    this.#changedAt = now();
  }

  /** The last poll result. */
  get last(): PollResult {
    return this.#last;
  }

  /** Whether to wait for the segment's futex instead of polling. */
  get isIdle(): boolean {
    return this.#last.source !== undefined && this.#now() - this.#changedAt >= IDLE_AFTER_MS;
  }

  add(pollResult: PollResult): void {
    if (!isSamePollResult(this.#last, pollResult)) this.#changedAt = this.#now();
    this.#last = pollResult;
  }

  /** Returns the milliseconds until the next poll. @param needsEachChange false if changes can wait */
  waitMs(needsEachChange: boolean): number {
    const now = this.#now();
    if (this.#last.isUnstable === true) return untilNext(ACTIVE_POLL_MS, now);
    if (this.#last.hasMore || this.#last.isReclaiming === true) return 0;
    const isActive = needsEachChange && now - this.#changedAt < IDLE_AFTER_MS;
    return untilNext(isActive ? ACTIVE_POLL_MS : IDLE_POLL_MS, now);
  }
}

/**
 * Milliseconds until the next multiple of a period, or until the following multiple if the next is too soon. Timers
 * with the same period and clock fire together, so that the process wakes up once for all of them.
 */
export function untilNext(period: number, now: number): number {
  const wait = Math.ceil(period - (now % period));
  return wait < period / 4 ? wait + period : wait;
}

/** Whether two poll results are equal for every consumer. */
export const isSamePollResult = (a: PollResult, b: PollResult): boolean =>
  a.notifications === b.notifications && isSameStructure(a, b);

/** Whether two poll results differ at most in `notifications`: the structure is equal, but values may have changed. */
export function isSameStructure(a: PollResult, b: PollResult): boolean {
  return (
    a.source === b.source &&
    a.publisher.state === b.publisher.state &&
    // The reason of a stalled publisher contains an age, which grows with every poll.
    (a.publisher.reason === b.publisher.reason || a.publisher.state === 'stalled') &&
    (a.warnings ?? []).join() === (b.warnings ?? []).join() &&
    b.changes.length === 0 &&
    a.hasMore === b.hasMore &&
    (a.isUnstable === true) === (b.isUnstable === true) &&
    a.drops.objects === b.drops.objects &&
    a.drops.variables === b.drops.variables
  );
}
