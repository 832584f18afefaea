// Bounds how many streams run at once.
import { Subject, defer, finalize, first, mergeMap } from 'rxjs';
import type { Observable } from 'rxjs';

/**
 * Makes an operator for several streams: of all that go through it, at most `max` are subscribed to
 * at once; the others wait in the order in which they came.
 */
export function limitConcurrency(max: number): <T>(source: Observable<T>) => Observable<T> {
  let free = max;
  const freed$ = new Subject<void>();
  const run = <T>(source: Observable<T>): Observable<T> => {
    free--;
    return source.pipe(
      finalize(() => {
        free++;
        freed$.next();
      }),
    );
  };
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
