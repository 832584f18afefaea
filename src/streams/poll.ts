// Polls a segment: how often, and again while its publisher is idle.
import { Observable, Subscription, asyncScheduler } from 'rxjs';
import type { SchedulerLike, TeardownLogic } from 'rxjs';
import type { Scheduler } from './scheduler.js';
import type { PollResult } from './watch.js';

/** A segment that changes is polled about this often; it stands still after this time without a change. */
export const MOVING_MS = 100;
export const STILL_AFTER_MS = 1000;
/** A segment that stands still or is not there is polled this often. */
export const STILL_MS = 1000;

export class Movement {
  readonly #now: () => number;
  #last: PollResult | undefined;
  #movedAt = -Infinity;

  /** @param now milliseconds of a clock that does not step; segments with one are looked at together */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether it is worth waiting for the segment's futex instead of polling. */
  get isStill(): boolean {
    return this.#last?.source !== undefined && this.#now() - this.#movedAt >= STILL_AFTER_MS;
  }

  /**
   * Notes a poll result; returns the milliseconds until the next look.
   * @param isUrgent false where changes can wait
   */
  next(seen: PollResult, isUrgent = true): number {
    const now = this.#now();
    if (this.#last === undefined || !isSamePollResult(this.#last, seen)) this.#movedAt = now;
    this.#last = seen;
    if (seen.isUnstable === true) return untilNext(MOVING_MS, now);
    if (seen.hasMore || seen.isReclaiming === true) return 0;
    const isMoving = isUrgent && now - this.#movedAt < STILL_AFTER_MS;
    return untilNext(isMoving ? MOVING_MS : STILL_MS, now);
  }
}

/**
 * Milliseconds until the next multiple of a period; a period more if that is too soon. What has a period and
 * a clock in common is due in the same moments, so that the process wakes up once for all of it.
 */
export function untilNext(period: number, now: number): number {
  const wait = Math.ceil(period - (now % period));
  return wait < period / 4 ? wait + period : wait;
}

/** True if no consumer can tell the two apart. */
export const isSamePollResult = (a: PollResult, b: PollResult): boolean =>
  a.tick === b.tick && isSameStructure(a, b);

/** The same but for the tick: values may have changed, and nothing else did. */
export function isSameStructure(a: PollResult, b: PollResult): boolean {
  return (
    a.source === b.source &&
    a.publisher.state === b.publisher.state &&
    // The reason of a stalled publisher holds its age, which grows with every look.
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
 * Emits what each look shows, the first at once. The next look follows `waitMs(seen)` later, or as
 * soon as `again` is called.
 * @param sooner begins to wait for a reason to look; what it returns ends that
 * @param tasks runs looks that follow at once in turn with other work; timers by default
 */
export function keepLooking<T>(
  look: () => T,
  waitMs: (seen: T) => number,
  sooner: (seen: T, again: () => void) => TeardownLogic,
  scheduler: SchedulerLike = asyncScheduler,
  tasks?: Scheduler,
): Observable<T> {
  return new Observable((subscriber) => {
    let waiting = new Subscription();
    /** The look that follows by itself. */
    let due: { readonly atMs: number; readonly action: Subscription } | undefined;
    const follow = (): true => {
      due = undefined;
      next();
      return true;
    };
    /** One that is due at that moment already stays: to call it off and to schedule another takes longer. */
    const followIn = (ms: number): void => {
      const atMs = scheduler.now() + ms;
      if (due !== undefined && Math.abs(due.atMs - atMs) < 1) return;
      due?.action.unsubscribe();
      const action =
        ms > 0 || tasks === undefined
          ? scheduler.schedule(follow, ms)
          : new Subscription(tasks.start(follow));
      due = { atMs, action };
    };
    const next = (): void => {
      waiting.unsubscribe();
      try {
        const seen = look();
        subscriber.next(seen);
        if (subscriber.closed) return;
        const wait = (waiting = new Subscription());
        const again = (): void => {
          if (!wait.closed) next();
        };
        followIn(waitMs(seen));
        wait.add(sooner(seen, again));
      } catch (error) {
        subscriber.error(error);
      }
    };
    next();
    return () => {
      waiting.unsubscribe();
      due?.action.unsubscribe();
    };
  });
}
