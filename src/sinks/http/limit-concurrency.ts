// Bounds how many streams run at once.
import { Subject, Subscription, defer, first, mergeMap, using } from 'rxjs';
import type { Observable } from 'rxjs';

/**
 * Makes an operator for several streams: of all that go through it, at most `max` are subscribed to
 * at once; the others wait in the order in which they came.
 */
export function limitConcurrency(max: number): <T>(source: Observable<T>) => Observable<T> {
  let free = max;
  const freed$ = new Subject<void>();
  const leave = (): void => {
    free++;
    freed$.next();
  };
  const run = <T>(source: Observable<T>): Observable<T> =>
    using(
      () => {
        free--;
        return new Subscription(leave);
      },
      () => source,
    );
  return (source) =>
    defer(() => {
      if (free > 0) return run(source);
      // Of those that hear of a free place, the one before may have taken it.
      return freed$.pipe(
        first(() => free > 0),
        mergeMap(() => run(source)),
      );
    });
}
