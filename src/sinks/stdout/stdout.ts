// The stdout sink. Prints snapshots once or at each interval (spec 1.4).
import {
  EMPTY,
  Observable,
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
} from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { Fault } from '../../errors.js';
import type { Document, DemandAnswer, InternalMetric, ReadyAnswer, Target } from '../../model.js';
import type { Output } from '../../stdio/output.js';
import { BrokenPipe, NotWritten, notWritten } from '../../stdio/print.js';
import { demandAll, hasEnded, whenReady } from '../sink.js';
import type { Sink, SinkEvent } from '../sink.js';

/** Writes a document. After the last byte, emits the number of bytes. */
export type DocumentWriter = (document: Document) => Observable<number>;

/**
 * How to print the targets: one document for each target, with metrics of the sink; or one document for all targets.
 */
export type Documents =
  | {
      readonly kind: 'each';
      readonly document: (
        answer: DemandAnswer,
        time: Date,
        ofSink: readonly InternalMetric[],
      ) => Document;
    }
  | { readonly kind: 'merged'; readonly merge: MergeDocuments };

type MergeDocuments = (answers: readonly ReadyAnswer[], targets: readonly Target[]) => Document;

interface StdoutOptions {
  readonly intervalSeconds: number;
  /** Whether to print only once: when all targets are ready, or at the latest after an interval. */
  readonly isOnce: boolean;
  readonly documents: Documents;
  readonly write: DocumentWriter;
  /** The text for the log when a tick is skipped. */
  readonly slow: string;
  readonly scheduler?: SchedulerLike;
}

const skippedTicks = (value: number): InternalMetric => ({
  name: 'shm_exporter_stdout_skipped_ticks_total',
  type: 'counter',
  help: 'Intervals of stdout mode without a snapshot, because the reader of stdout was too slow.',
  value,
});

/**
 * Makes a sink that prints all targets at each tick. It skips ticks while it still writes
 * documents, so that memory does not grow. The next documents state the number of skipped ticks. With
 * `isOnce`, it errors with Fault NOT_READY after printing if a target is not ready.
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
      const demanded = (target: Target): Observable<DemandAnswer> =>
        target.demand().pipe(
          tap(({ kind, status: { progress } }) => {
            if (kind === 'waiting' && !hasEnded(target)) waiting.add(progress.reason);
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
                  demanded(target).pipe(
                    map((answer) => documents.document(answer, time, ofSink)),
                    concatMap(written),
                  ),
                ),
              )
            : printMerged(targets, demanded, documents.merge, written);
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
          if (error instanceof BrokenPipe) return EMPTY;
          throw error;
        }),
      );
    });
}

const notReady = (reasons: ReadonlySet<string>): Fault => {
  const [first = ''] = reasons;
  return new Fault('NOT_READY', `not all targets were ready: waiting on ${first}`);
};

/** Prints one document of all targets. */
const printMerged = (
  targets: readonly Target[],
  demanded: (target: Target) => Observable<DemandAnswer>,
  merge: MergeDocuments,
  written: (document: Document) => Observable<SinkEvent>,
): Observable<SinkEvent> =>
  demandAll(targets, demanded).pipe(
    concatMap(({ answers, release }) => {
      try {
        return written(merge(answers.filter(isReady), targets));
      } finally {
        release();
      }
    }),
  );

const isReady = (answer: DemandAnswer): answer is ReadyAnswer => answer.kind === 'ready';

/**
 * Writes documents to an output. Unsubscribing does not stop a started document. If a write fails, the Observable
 * errors with `NotWritten`, and the next document begins on a new line.
 */
export const documentWriter =
  (output: Pick<Output, 'write'>): DocumentWriter =>
  ({ buffers, release }) =>
    new Observable((subscriber) => {
      let bytes = 0;
      const counted = function* () {
        for (const buffer of buffers) {
          bytes += buffer.length;
          yield buffer;
        }
      };
      output.write(counted(), (error) => {
        release();
        if (error !== undefined) {
          subscriber.error(notWritten(error));
          return;
        }
        subscriber.next(bytes);
        subscriber.complete();
      });
    });
