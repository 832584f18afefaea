// An RxJS operator that limits the number of concurrent subscriptions.
import {
  Subject,
  Subscription,
  asyncScheduler,
  defer,
  first,
  map,
  mergeAll,
  of,
  timeout,
  using,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

/**
 * Makes an operator that several streams share. It subscribes to at most `max` of its source observables at a time.
 * The next sources wait in FIFO order. If a source has waited for `maxWaitMs`, the operator subscribes to `late$`
 * instead, which needs no permit.
 */
export function limitConcurrency(
  max: number,
  { maxWaitMs, scheduler = asyncScheduler }: { maxWaitMs: number; scheduler?: SchedulerLike },
): <L>(late$: Observable<L>) => <T>(source: Observable<T>) => Observable<T | L> {
  let free = max;
  const released$ = new Subject<void>();
  const acquire = (): Subscription => {
    free--;
    return new Subscription(() => {
      free++;
      released$.next();
    });
  };
  return (late$) => (source) =>
    defer(() => {
      const run$ = using(acquire, () => source);
      if (free > 0) return run$;
      // An earlier subscriber of `released$` may acquire the permit first.
      return released$.pipe(
        first(() => free > 0),
        map(() => run$),
        timeout({ first: maxWaitMs, scheduler, with: () => of(late$) }),
        mergeAll(),
      );
    });
}
