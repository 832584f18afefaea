// Polls of a component: one poll, the schedule of polls, and the age of the last tree.
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

interface BodySize {
  readonly received: number;
  readonly decoded: number;
}

export type PollOutcome = { readonly durationMs: number; readonly size: BodySize } & (
  | { readonly kind: 'tree'; readonly tree: ComponentTree; readonly askedAtMs: number }
  | { readonly kind: 'failed'; readonly failure: PollFailure }
);

interface PollLimits extends TreeLimits {
  /** The time limit from the request to the end of the answer. */
  readonly requestTimeoutMs: number;
}

export interface PollClocks {
  readonly unixMs: () => number;
  /** A monotonic clock. */
  readonly steadyMs: () => number;
  readonly scheduler: SchedulerLike;
}

/**
 * Bounds for the JSON of a tree within these limits, larger than any tree needs. Each object on a path adds two
 * levels. An object has three arrays or JSON objects, and five members. A variable has one JSON object and three
 * members. A document beyond these bounds can take the parser far longer than its size suggests.
 */
const boundsFor = ({ maxDepth, maxObjects, maxVariables }: TreeLimits): ScanBounds => ({
  mostNesting: 2 * maxDepth + 8,
  mostBrackets: 8 * maxObjects + 2 * maxVariables + 1000,
  mostCommas: 16 * maxObjects + 6 * maxVariables + 1000,
  mostLongIntegers: 2 * maxVariables + 1000,
});

/** Emits one outcome and completes. Every expected failure is an outcome. */
export function poll(
  body: () => Observable<BodyChunk>,
  limits: PollLimits,
  { unixMs, steadyMs, scheduler }: PollClocks,
): Observable<PollOutcome> {
  const { requestTimeoutMs } = limits;
  return defer(() => {
    const askedAtMs = unixMs();
    const start = steadyMs();
    const size = { received: 0, decoded: 0 };
    const about = () => ({ durationMs: steadyMs() - start, size });
    const late = () =>
      throwError(
        () => new PollFailure('timeout', `no complete answer within ${requestTimeoutMs} ms`),
      );
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
      // Each step takes a long time for a large tree, so each gets its own iteration of the event loop.
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

/** The schedule of polls. */
export interface Pace {
  readonly intervalMs: number;
  /** The longest time between polls of a failing component, unless its interval is longer. */
  readonly maxBackOffMs: number;
}

export interface Polled<T> {
  readonly outcome: T;
  /** The number of polls that were due while this one ran. */
  readonly skipped: number;
}

interface Round<T> extends Polled<T> {
  readonly waitMs: number;
  /** Failures in a row, including this poll. */
  readonly failures: number;
}

/**
 * Polls at once, and then one interval after the start of each poll. From the second failure in a row, each failure
 * doubles the interval. Two polls never overlap. Never completes.
 * @param now milliseconds of a monotonic clock
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

function periodAfter(failures: number, { intervalMs, maxBackOffMs }: Pace): number {
  const most = Math.max(intervalMs, maxBackOffMs);
  return Math.min(most, intervalMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
}

/** The last good poll has become `stale`, or is so old that its tree counts as `lost`. */
export interface Ageing {
  readonly kind: 'stale' | 'lost';
}

/** The age at which the last good poll becomes stale, and the age at which its tree counts as lost. */
export interface Patience {
  readonly staleAfterMs: number;
  readonly lostAfterMs: number;
}

/**
 * Emits every poll. Between polls, emits an event when the last good poll becomes stale, and another event when it
 * counts as lost. After a poll with the verdict `gone`, emits neither event until the next good poll.
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
