// Polls a segment repeatedly, and decides when to poll it next.
import { Observable, Subscription, asyncScheduler } from 'rxjs';
import type { SchedulerLike, TeardownLogic } from 'rxjs';
import type { Scheduler } from './scheduler.js';
import type { PollResult } from './poller.js';

/** The poll period of a segment that changes, and the time without a change after which a segment is idle. */
export const ACTIVE_POLL_MS = 100;
export const IDLE_AFTER_MS = 1000;
/** The poll period of a segment that is idle or absent. */
export const IDLE_POLL_MS = 1000;

/** Decides when a segment is polled next. */
export class PollSchedule {
  readonly #now: () => number;
  #last: PollResult | undefined;
  #changedAt = -Infinity;

  /** @param now milliseconds of a monotonic clock; segments that share a clock are polled together */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether to wait for the segment's futex instead of polling. */
  get isIdle(): boolean {
    return this.#last?.source !== undefined && this.#now() - this.#changedAt >= IDLE_AFTER_MS;
  }

  /**
   * Takes a poll result; returns the milliseconds until the next poll.
   * @param isUrgent false if changes can wait
   */
  next(pollResult: PollResult, isUrgent = true): number {
    const now = this.#now();
    if (this.#last === undefined || !isSamePollResult(this.#last, pollResult))
      this.#changedAt = now;
    this.#last = pollResult;
    if (pollResult.isUnstable === true) return untilNext(ACTIVE_POLL_MS, now);
    if (pollResult.hasMore || pollResult.isReclaiming === true) return 0;
    const isActive = isUrgent && now - this.#changedAt < IDLE_AFTER_MS;
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

/**
 * Emits the result of each poll, the first at once. The next poll follows `waitMs(result)` later, or as
 * soon as `again` is called.
 * @param waitForChange begins to wait for a change, and returns the teardown of that wait
 * @param tasks runs each poll that follows without a wait; by default, a timer runs it
 */
export function repeatPoll<T>(
  poll: () => T,
  waitMs: (result: T) => number,
  waitForChange: (result: T, again: () => void) => TeardownLogic,
  scheduler: SchedulerLike = asyncScheduler,
  tasks?: Scheduler,
): Observable<T> {
  return new Observable((subscriber) => {
    let waiting = new Subscription();
    let timer: { readonly atMs: number; readonly action: Subscription } | undefined;
    const onTimer = (): true => {
      timer = undefined;
      next();
      return true;
    };
    /** Sets the timer, unless one is set for the same moment. */
    const setTimer = (ms: number): void => {
      const atMs = scheduler.now() + ms;
      if (timer !== undefined && Math.abs(timer.atMs - atMs) < 1) return;
      timer?.action.unsubscribe();
      const action =
        ms > 0 || tasks === undefined
          ? scheduler.schedule(onTimer, ms)
          : new Subscription(tasks.start(onTimer));
      timer = { atMs, action };
    };
    const next = (): void => {
      waiting.unsubscribe();
      try {
        const result = poll();
        subscriber.next(result);
        if (subscriber.closed) return;
        const wait = (waiting = new Subscription());
        const again = (): void => {
          if (!wait.closed) next();
        };
        setTimer(waitMs(result));
        wait.add(waitForChange(result, again));
      } catch (error) {
        subscriber.error(error);
      }
    };
    next();
    return () => {
      waiting.unsubscribe();
      timer?.action.unsubscribe();
    };
  });
}
