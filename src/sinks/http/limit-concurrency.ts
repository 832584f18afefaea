// An RxJS operator that limits the number of concurrent subscriptions.
import { Subject, Subscription, defer, first, mergeMap, using } from 'rxjs';
import type { Observable } from 'rxjs';

/**
 * Makes an operator to share between several streams: at most `max` of their sources are subscribed to at once. The
 * others wait in FIFO order.
 */
export function limitConcurrency(max: number): <T>(source: Observable<T>) => Observable<T> {
  let free = max;
  const freed$ = new Subject<void>();
  const take = (): Subscription => {
    free--;
    return new Subscription(() => {
      free++;
      freed$.next();
    });
  };
  return (source) =>
    defer(() => {
      const run$ = using(take, () => source);
      if (free > 0) return run$;
      // An earlier subscriber of `freed$` may take the place first.
      return freed$.pipe(
        first(() => free > 0),
        mergeMap(() => run$),
      );
    });
}
