// Bounds how many streams run at once.
import { BehaviorSubject, finalize, first, mergeMap, tap } from 'rxjs';
import type { Observable } from 'rxjs';

/**
 * Makes an operator for several streams: of all that go through it, at most `max` are subscribed to
 * at once; the others wait in the order in which they came.
 */
export function limitConcurrency(max: number): <T>(source: Observable<T>) => Observable<T> {
  const free$ = new BehaviorSubject(max);
  return (source) =>
    free$.pipe(
      // Not the emitted value: a stream that heard of it before may have taken the place.
      first(() => free$.value > 0),
      tap(() => {
        free$.next(free$.value - 1);
      }),
      mergeMap(() =>
        source.pipe(
          finalize(() => {
            free$.next(free$.value + 1);
          }),
        ),
      ),
    );
}
