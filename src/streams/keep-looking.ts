// Polls: the wait before the next look depends on what the last one showed, and can be cut short.
import { Observable, Subscription, asyncScheduler } from 'rxjs';
import type { SchedulerLike, TeardownLogic } from 'rxjs';

/**
 * Emits what each look shows, the first at once. The next look follows `waitMs(seen)` later, or as
 * soon as `again` is called.
 * @param sooner begins to wait for a reason to look; what it returns ends that
 */
export function keepLooking<T>(
  look: () => T,
  waitMs: (seen: T) => number,
  sooner: (seen: T, again: () => void) => TeardownLogic,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<T> {
  return new Observable((subscriber) => {
    let waiting = new Subscription();
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
        wait.add(scheduler.schedule(next, waitMs(seen)));
        wait.add(sooner(seen, again));
      } catch (error) {
        subscriber.error(error);
      }
    };
    next();
    return () => {
      waiting.unsubscribe();
    };
  });
}
