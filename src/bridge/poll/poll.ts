// Polls a component: one poll, when the next one is due, and when the last tree becomes stale or lost.
import {
  asyncScheduler,
  catchError,
  concatMap,
  connect,
  defer,
  expand,
  filter,
  map,
  merge,
  observeOn,
  of,
  reduce,
  switchMap,
  take,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import type { Observable, OperatorFunction, SchedulerLike } from 'rxjs';
import type { ComponentTree } from '../tree/component-tree.js';
import { readTree } from '../tree/read-tree.js';
import type { TreeLimits } from '../tree/read-tree.js';
import { PollFailure } from './fetch-body.js';
import type { BodyChunk } from './fetch-body.js';
import { JsonDocument } from './json-document.js';
import type { ScanBounds } from './json-document.js';

/** How large the answer was, in bytes: over the wire, and decompressed. */
interface BodySize {
  readonly received: number;
  readonly decoded: number;
}

export type PollOutcome = { readonly durationMs: number; readonly size: BodySize } & (
  | { readonly kind: 'tree'; readonly tree: ComponentTree; readonly askedAtMs: number }
  | { readonly kind: 'failed'; readonly failure: PollFailure }
);

interface PollSettings {
  readonly limits: TreeLimits;
  /** Time limit for the whole answer, from the request on. */
  readonly requestTimeoutMs: number;
  readonly unixMs: () => number;
  /** A clock that does not step. */
  readonly steadyMs: () => number;
  readonly scheduler: SchedulerLike;
}

/**
 * JSON nests twice for each object on a path, and has three arrays and objects for each object and
 * one for each variable; a variable has three members, an object five. They hold little else. A
 * document with more can take the parser far longer than its size suggests.
 */
const boundsFor = ({ maxDepth, maxObjects, maxVariables }: TreeLimits): ScanBounds => ({
  mostNesting: 2 * maxDepth + 8,
  mostBrackets: 8 * maxObjects + 2 * maxVariables + 1000,
  mostCommas: 16 * maxObjects + 6 * maxVariables + 1000,
  mostLongIntegers: 2 * maxVariables + 1000,
});

/** Emits one outcome and completes; an error is a bug of ours. */
export function poll(
  body: () => Observable<BodyChunk>,
  { limits, requestTimeoutMs, unixMs, steadyMs, scheduler }: PollSettings,
): Observable<PollOutcome> {
  return defer(() => {
    const askedAtMs = unixMs();
    const start = steadyMs();
    const size = { received: 0, decoded: 0 };
    const about = () => ({ durationMs: steadyMs() - start, size });
    const late = () =>
      throwError(() => new PollFailure('timeout', `no whole answer within ${requestTimeoutMs} ms`));
    return defer(body).pipe(
      reduce(
        (document, { bytes, received }) => {
          size.received = received;
          size.decoded += bytes.length;
          document.write(bytes);
          return document;
        },
        new JsonDocument(boundsFor(limits)),
      ),
      timeout({ first: requestTimeoutMs, with: late, scheduler }),
      // Each step runs in its own event loop iteration: with a large tree it blocks the loop for a
      // while.
      map((document) => document.end()),
      observeOn(scheduler),
      map((json) => readTree(json, limits)),
      observeOn(scheduler),
      map((tree): PollOutcome => ({ kind: 'tree', tree, askedAtMs, ...about() })),
      catchError((failure: unknown) => {
        if (!(failure instanceof PollFailure)) throw failure;
        return of<PollOutcome>({ kind: 'failed', failure, ...about() });
      }),
    );
  });
}

// When a component is polled: on a grid of its interval, less often while it fails, never twice at once.
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
