// Watches the age of a component's last good poll.
import { asyncScheduler, connect, filter, map, merge, switchMap, timer } from 'rxjs';
import type { OperatorFunction, SchedulerLike } from 'rxjs';

/** The values are old, or too old to be published. */
export interface Ageing {
  readonly kind: 'stale' | 'lost';
}

export interface Patience {
  /** Since the last good poll. */
  readonly staleAfterMs: number;
  readonly lostAfterMs: number;
}

/**
 * Emits all polls, and between them an event when the last good one becomes stale and when it
 * counts as lost. A poll that reports no data ends the wait.
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
