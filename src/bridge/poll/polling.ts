// When a component is polled: on a grid of its interval, less often while it fails, never twice at once.
import { asyncScheduler, concatMap, defer, expand, map, take, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

export interface Pace {
  readonly intervalMs: number;
  /** The longest time between polls of a failing component, unless its interval is longer. */
  readonly mostBackOffMs: number;
}

export interface Polled<T> {
  readonly outcome: T;
  /** Polls that were due while this one ran. */
  readonly skipped: number;
}

interface Round<T> extends Polled<T> {
  readonly waitMs: number;
  /** Failures in a row, including this poll. */
  readonly failures: number;
}

/**
 * Polls at once and then one interval after the start of each poll. After one failure the interval
 * is unchanged, after two in a row it is twice as long, then four times … Never completes.
 * @param now milliseconds of a clock that does not step
 */
export function polling<T>(
  poll: () => Observable<T>,
  hasFailed: (outcome: T) => boolean,
  pace: Pace,
  scheduler: SchedulerLike = asyncScheduler,
  now: () => number = () => scheduler.now(),
): Observable<Polled<T>> {
  const after = (outcome: T, tookMs: number, failuresBefore: number): Round<T> => {
    const failures = hasFailed(outcome) ? failuresBefore + 1 : 0;
    const periodMs = periodAfter(failures, pace);
    const skipped = Math.floor(tookMs / periodMs);
    return { outcome, skipped, failures, waitMs: (skipped + 1) * periodMs - tookMs };
  };
  const round = (waitMs: number, failuresBefore: number): Observable<Round<T>> =>
    timer(waitMs, scheduler).pipe(
      concatMap(() =>
        defer(() => {
          const start = now();
          return poll().pipe(
            take(1),
            map((outcome) => after(outcome, now() - start, failuresBefore)),
          );
        }),
      ),
    );
  return round(0, 0).pipe(expand(({ waitMs, failures }) => round(waitMs, failures)));
}

function periodAfter(failures: number, { intervalMs, mostBackOffMs }: Pace): number {
  const most = Math.max(intervalMs, mostBackOffMs);
  return Math.min(most, intervalMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
}
