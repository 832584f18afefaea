// The stdout printer: one document a target at every tick. Spec 1.4.
import {
  EMPTY,
  asyncScheduler,
  catchError,
  concatMap,
  defer,
  finalize,
  from,
  interval,
  map,
  mergeMap,
  of,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { Document, Exposition, InternalMetric, Target } from '../../model.js';
import type { Sink, SinkEvent } from '../sink.js';

/** Writes one document; emits its number of bytes when the reader has taken all of it. */
export type DocumentWriter = (document: Document) => Observable<number>;

/** The error of a writer whose reader went away; the printer then completes. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

export interface StdoutOptions {
  readonly intervalSeconds: number;
  /** Makes a document that shows metrics of this sink beside those of the target. */
  readonly document: (
    exposition: Exposition,
    time: Date,
    ofSink: readonly InternalMetric[],
  ) => Document;
  readonly write: DocumentWriter;
  readonly scheduler?: SchedulerLike;
}

const SKIPPED: SinkEvent = { kind: 'skipped', reason: 'the reader of stdout is too slow' };

const skippedTicks = (value: number): InternalMetric => ({
  name: 'shm_exporter_stdout_skipped_ticks_total',
  type: 'counter',
  help: 'Ticks of stdout mode without a snapshot, because the reader was too slow.',
  value,
});

/**
 * Prints every target at each tick. While the reader has not taken the last documents, ticks are
 * skipped, so that memory does not grow; the documents after that show how many.
 */
export function stdoutSink(options: StdoutOptions): Sink {
  const { intervalSeconds, document, write, scheduler = asyncScheduler } = options;
  return (registry) =>
    defer(() => {
      let isPrinting = false;
      let skipped = 0;
      const print = (target: Target): Observable<SinkEvent> =>
        target.demand().pipe(
          map((exposition) =>
            document(exposition, new Date(scheduler.now()), [skippedTicks(skipped)]),
          ),
          concatMap(write),
          map((bytes) => ({ kind: 'served', bytes, outcome: 'delivered' })),
        );
      const printAll = () => {
        isPrinting = true;
        return from(registry.targets).pipe(
          concatMap(print),
          finalize(() => {
            isPrinting = false;
          }),
        );
      };
      const skip = () => {
        skipped++;
        return of(SKIPPED);
      };
      return interval(intervalSeconds * 1000, scheduler).pipe(
        mergeMap(() => (isPrinting ? skip() : printAll())),
        catchError((error: unknown) => {
          if (error instanceof ReaderGone) return EMPTY;
          throw error;
        }),
      );
    });
}
