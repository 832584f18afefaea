// Polls: the wait before the next look depends on what the last one showed, and can be cut short.
import { asyncScheduler, defer, expand, map, merge, of, take, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

/**
 * Emits what each look shows, the first at once. The next look follows `waitMs(seen)` later, or at
 * the first of `sooner(seen)`.
 */
export function keepLooking<T>(
  look: () => T,
  waitMs: (seen: T) => number,
  sooner: (seen: T) => Observable<unknown>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<T> {
  const next = (seen: T) =>
    merge(timer(waitMs(seen), scheduler), sooner(seen)).pipe(take(1), map(look));
  return defer(() => of(look())).pipe(expand(next));
}
