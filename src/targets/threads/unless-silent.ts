// Ends a thread that reports nothing any more.
import {
  connect,
  delay,
  endWith,
  ignoreElements,
  map,
  merge,
  startWith,
  switchMap,
  takeUntil,
  timer,
} from 'rxjs';
import type { MonoTypeOperatorFunction, SchedulerLike } from 'rxjs';

/** A target reports once a second; its thread may be busy, but not for as long as this. */
export const MAX_SILENCE_MS = 30_000;
/** What arrived while this process did not run is heard first. */
const GRACE_MS = 1000;

/** Calls `end` when nothing was reported for `MAX_SILENCE_MS`; the end of the thread then ends the stream. */
export const unlessSilent = <T>(
  end: () => unknown,
  scheduler: SchedulerLike,
): MonoTypeOperatorFunction<T> =>
  connect((report$) =>
    merge(
      report$,
      report$.pipe(
        startWith(undefined),
        switchMap(() => timer(MAX_SILENCE_MS, scheduler).pipe(delay(GRACE_MS, scheduler))),
        map(end),
        ignoreElements(),
        takeUntil(report$.pipe(ignoreElements(), endWith(undefined))),
      ),
    ),
  );
