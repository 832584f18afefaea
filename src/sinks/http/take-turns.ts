// Lets a bounded number of streams run at once.
import { BehaviorSubject, finalize, first, mergeMap, tap } from 'rxjs';
import type { Observable } from 'rxjs';

/**
 * Makes an operator whose streams take turns: of all that go through it, at most `most` are
 * subscribed to at once, in the order in which they were asked for.
 */
export function takeTurns(most: number): <T>(source: Observable<T>) => Observable<T> {
  const free$ = new BehaviorSubject(most);
  return (source) =>
    free$.pipe(
      // Not what was emitted: whoever heard of it before may have taken the turn.
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
