// Polls: the wait before the next look depends on what the last one showed, and can be cut short.
import { Observable, Subscription, asyncScheduler } from 'rxjs';
import type { SchedulerLike, TeardownLogic } from 'rxjs';
import type { Scheduler } from './scheduler.js';

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
