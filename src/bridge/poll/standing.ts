// How a component stands by what its polls bring, and by how long ago the last good one is.
import { asyncScheduler, connect, filter, map, merge, switchMap, timer } from 'rxjs';
import type { OperatorFunction, SchedulerLike } from 'rxjs';

/** That values are old, or too old to be shown. */
export interface Ageing {
  readonly kind: 'stale' | 'lost';
}

export interface Patience {
  /** Since the last good poll. */
  readonly staleAfterMs: number;
  readonly lostAfterMs: number;
}

/**
 * Passes all polls on, and says between them when the last good one has become stale and lost. A poll
 * that says that there is nothing any more ends the wait.
 */
export function standing<P>(
  verdictOf: (polled: P) => 'good' | 'gone' | 'failed',
  { staleAfterMs, lostAfterMs }: Patience,
  scheduler: SchedulerLike = asyncScheduler,
): OperatorFunction<P, P | Ageing> {
  const ageing$ = merge(
    timer(staleAfterMs, scheduler).pipe(map((): Ageing => ({ kind: 'stale' }))),
    timer(lostAfterMs, scheduler).pipe(map((): Ageing => ({ kind: 'lost' }))),
  );
  return connect((polled$) => {
    const turn$ = polled$.pipe(
      map(verdictOf),
      filter((verdict) => verdict !== 'failed'),
      switchMap((verdict) => (verdict === 'good' ? ageing$ : [])),
    );
    return merge(polled$, turn$);
  });
}
