// One poll of a component: request, read and check, within its time limit.
import { catchError, defer, map, observeOn, of, reduce, throwError, timeout } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { ComponentTree } from '../tree/component-tree.js';
import type { Chunk } from './fetch-body.js';
import { JsonDocument } from './json-document.js';
import type { ScanBounds } from './json-scan.js';
import { PollFailure } from './poll-failure.js';
import { readTree } from '../tree/read-tree.js';
import type { TreeLimits } from '../tree/read-tree.js';

/** How large the answer was, in bytes: over the wire, and decompressed. */
export interface BodySize {
  readonly received: number;
  readonly decoded: number;
}

export type Outcome = { readonly durationMs: number; readonly size: BodySize } & (
  | { readonly kind: 'tree'; readonly tree: ComponentTree; readonly askedAtMs: number }
  | { readonly kind: 'failed'; readonly failure: PollFailure }
);

export interface PollSettings {
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
  body: () => Observable<Chunk>,
  { limits, requestTimeoutMs, unixMs, steadyMs, scheduler }: PollSettings,
): Observable<Outcome> {
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
      map((tree): Outcome => ({ kind: 'tree', tree, askedAtMs, ...about() })),
      catchError((failure: unknown) => {
        if (!(failure instanceof PollFailure)) throw failure;
        return of<Outcome>({ kind: 'failed', failure, ...about() });
      }),
    );
  });
}
