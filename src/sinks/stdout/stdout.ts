// The printer of snapshots: documents at every tick, or once. Spec 1.4.
import {
  EMPTY,
  asyncScheduler,
  catchError,
  concat,
  concatMap,
  defer,
  finalize,
  from,
  interval,
  map,
  mergeMap,
  of,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { Fault } from '../../errors.js';
import type { Document, Exposition, InternalMetric, Target } from '../../model.js';
import { identitiesOf } from '../identity.js';
import type { Labels } from '../identity.js';
import type { Sink, SinkEvent } from '../sink.js';
import { whenReady } from '../when-ready.js';

/** Writes one document; emits its number of bytes when the reader has taken all of it. */
export type DocumentWriter = (document: Document) => Observable<number>;

/** The error of a writer whose reader went away; the printer then completes. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

/** A document that could not be written; the printer goes on with the next. */
export class NotWritten extends Error {
  override readonly name = 'NotWritten';
}

/** What one target shows, with the labels that tell it from all others. */
interface Identified {
  readonly identity: Labels;
  readonly exposition: Exposition;
}

/** A document of each target, with metrics of this sink, or one document of all targets. */
export type Documents =
  | {
      readonly kind: 'each';
      readonly document: (
        exposition: Exposition,
        time: Date,
        ofSink: readonly InternalMetric[],
      ) => Document;
    }
  | { readonly kind: 'merged'; readonly merge: MergeDocuments };

type MergeDocuments = (
  all: readonly Identified[],
  targets: readonly Target[],
) => Promise<Document['pieces']>;

export interface StdoutOptions {
  readonly intervalSeconds: number;
  /** Prints once, when all targets are ready or an interval is over. */
  readonly isOnce: boolean;
  readonly documents: Documents;
  readonly write: DocumentWriter;
  /** Why a tick is skipped: what holds up the documents of the last one. */
  readonly slow: string;
  readonly scheduler?: SchedulerLike;
}

const skippedTicks = (value: number): InternalMetric => ({
  name: 'shm_exporter_stdout_skipped_ticks_total',
  type: 'counter',
  help: 'Ticks of stdout mode without a snapshot, because the reader was too slow.',
  value,
});

/**
 * Prints every target at each tick. While the reader has not taken the last documents, ticks are
 * skipped, so that memory does not grow; the documents after that show how many. Errors with Fault
 * NOT_READY after it printed once, if a target was not ready.
 */
export function stdoutSink(options: StdoutOptions): Sink {
  const { intervalSeconds, isOnce, documents, write, slow, scheduler = asyncScheduler } = options;
  return (registry) =>
    defer(() => {
      let isPrinting = false;
      let skipped = 0;
      const waiting = new Set<string>();
      const written = (document: Document): Observable<SinkEvent> =>
        write(document).pipe(
          map((bytes): SinkEvent => ({ kind: 'served', bytes, outcome: 'delivered' })),
          catchError((error: unknown) => {
            if (!(error instanceof NotWritten)) throw error;
            if (isOnce) throw new Fault('NOT_WRITTEN', error.message, { cause: error });
            return of<SinkEvent>({ kind: 'skipped', reason: error.message });
          }),
        );
      const asked = (target: Target): Observable<Exposition> =>
        target.demand().pipe(
          tap(({ kind, status: { progress } }) => {
            if (kind === 'waiting') waiting.add(progress.reason);
          }),
        );
      const printAll = () => {
        isPrinting = true;
        waiting.clear();
        const { targets } = registry;
        const time = new Date(scheduler.now());
        const ofSink = [skippedTicks(skipped)];
        const print$ =
          documents.kind === 'each'
            ? from(targets).pipe(
                concatMap((target) =>
                  asked(target).pipe(
                    map((exposition) => documents.document(exposition, time, ofSink)),
                    concatMap(written),
                  ),
                ),
              )
            : printMerged(targets, asked, documents.merge, written);
        return print$.pipe(
          finalize(() => {
            isPrinting = false;
          }),
        );
      };
      const skip = () => {
        skipped++;
        return of<SinkEvent>({ kind: 'skipped', reason: slow });
      };
      const periodMs = intervalSeconds * 1000;
      const print$ = isOnce
        ? concat(
            whenReady(registry, periodMs, scheduler).pipe(mergeMap(printAll)),
            defer(() => (waiting.size === 0 ? EMPTY : throwError(() => notReady(waiting)))),
          )
        : interval(periodMs, scheduler).pipe(mergeMap(() => (isPrinting ? skip() : printAll())));
      return print$.pipe(
        catchError((error: unknown) => {
          if (error instanceof ReaderGone) return EMPTY;
          throw error;
        }),
      );
    });
}

const notReady = (reasons: ReadonlySet<string>): Fault => {
  const [first = ''] = reasons;
  return new Fault('NOT_READY', `not all targets were ready: waiting on ${first}`);
};

/** Asks one target after the other, and holds what each shows until all is written. */
function printMerged(
  targets: readonly Target[],
  asked: (target: Target) => Observable<Exposition>,
  merge: MergeDocuments,
  written: (document: Document) => Observable<SinkEvent>,
): Observable<SinkEvent> {
  return defer(() => {
    const holds: (() => void)[] = [];
    const release = () => {
      for (const letGo of holds.splice(0)) letGo();
    };
    let isBegun = false;
    return from(identitiesOf(targets)).pipe(
      concatMap(([target, identity]) =>
        asked(target).pipe(
          map((exposition): Identified => {
            if (exposition.kind === 'ready') holds.push(exposition.snapshot.hold());
            return { identity, exposition };
          }),
        ),
      ),
      toArray(),
      concatMap((all) => merge(all, targets)),
      concatMap((pieces) => {
        isBegun = true;
        return written({ pieces, release });
      }),
      finalize(() => {
        // A writer that has begun releases it, even after its subscriber has left.
        if (!isBegun) release();
      }),
    );
  });
}
