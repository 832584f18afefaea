// An RxJS operator that limits the number of concurrent subscriptions.
import { Subject, Subscription, defer, first, mergeMap, using } from 'rxjs';
import type { Observable } from 'rxjs';

/**
 * Makes an operator that several streams share. It subscribes to at most `max` of its source
 * observables at a time. The next sources wait in FIFO order.
 */
export function limitConcurrency(max: number): <T>(source: Observable<T>) => Observable<T> {
  let free = max;
  const released$ = new Subject<void>();
  const acquire = (): Subscription => {
    free--;
    return new Subscription(() => {
      free++;
      released$.next();
    });
  };
  return (source) =>
    defer(() => {
      const run$ = using(acquire, () => source);
      if (free > 0) return run$;
      // An earlier subscriber of `released$` may acquire the permit first.
      return released$.pipe(
        first(() => free > 0),
        mergeMap(() => run$),
      );
    });
}
