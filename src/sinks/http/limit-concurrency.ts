// Bounds how many streams run at once.
import { Subject, first, mergeMap, using } from 'rxjs';
import type { Observable, Unsubscribable } from 'rxjs';

/**
 * Makes an operator for several streams: of all that go through it, at most `max` are subscribed to
 * at once; the others wait in the order in which they came.
 */
export function limitConcurrency(max: number): <T>(source: Observable<T>) => Observable<T> {
  let free = max;
  const freed$ = new Subject<void>();
  const place: Unsubscribable = {
    unsubscribe: () => {
      free++;
      freed$.next();
    },
  };
  const take = (): Unsubscribable => {
    free--;
    return place;
  };
  return (source) =>
    using(
      () => (free > 0 ? take() : undefined),
      (taken) =>
        taken !== undefined
          ? source
          : // Of those that hear of a free place, the one before may have taken it.
            freed$.pipe(
              first(() => free > 0),
              mergeMap(() => using(take, () => source)),
            ),
    );
}
