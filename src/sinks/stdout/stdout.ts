// The stdout sink. Prints snapshots once or at each interval (spec 1.4).
import { createWriteStream, fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
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
  toArray,
} from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { Fault, isSystemError, messageOf } from '../../errors.js';
import type { Document, DemandAnswer, InternalMetric, Target } from '../../model.js';
import { identitiesOf, whenReady } from '../sink.js';
import type { IdentityLabels, Sink, SinkEvent } from '../sink.js';

/** Writes a document. After the last byte, emits the number of bytes. */
export type DocumentWriter = (document: Document) => Observable<number>;

/** The error of a writer after the reader closed the pipe. The sink then completes. */
export class BrokenPipe extends Error {
  override readonly name = 'ReaderGone';
}

/** The error of a document that could not be written. The sink continues with the next one. */
export class NotWritten extends Error {
  override readonly name = 'NotWritten';
}

/** The answer of a target, with the labels that identify the target. */
interface IdentifiedPage {
  readonly identity: IdentityLabels;
  readonly answer: DemandAnswer;
}

/** How to print the targets: a document for each target, with metrics of the sink, or one document for all targets. */
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

type MergeDocuments = (
  all: readonly IdentifiedPage[],
  targets: readonly Target[],
) => Promise<Document['buffers']>;

interface StdoutOptions {
  readonly intervalSeconds: number;
  /** Whether to print only once: when all targets are ready, or at the latest after an interval. */
  readonly isOnce: boolean;
  readonly documents: Documents;
  readonly write: DocumentWriter;
  /** The reason of a skipped tick. */
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
 * Makes a sink that prints all targets at each tick. It skips ticks while it still writes
 * documents, so that memory does not grow. The next documents count the skipped ticks. With
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

/** Prints one document of all targets. Keeps the snapshots of all targets until the document is written. */
function printMerged(
  targets: readonly Target[],
  demanded: (target: Target) => Observable<DemandAnswer>,
  merge: MergeDocuments,
  written: (document: Document) => Observable<SinkEvent>,
): Observable<SinkEvent> {
  return defer(() => {
    const holds: (() => void)[] = [];
    const release = () => {
      for (const releaseOne of holds.splice(0)) releaseOne();
    };
    let isBegun = false;
    return from(identitiesOf(targets)).pipe(
      concatMap(([target, identity]) =>
        demanded(target).pipe(
          map((answer): IdentifiedPage => {
            if (answer.kind === 'ready') holds.push(answer.snapshot.hold());
            return { identity, answer };
          }),
        ),
      ),
      toArray(),
      concatMap((all) => merge(all, targets)),
      concatMap((buffers) => {
        isBegun = true;
        return written({ buffers, release });
      }),
      finalize(() => {
        // A writer that has begun releases the document itself, even after unsubscription.
        if (!isBegun) release();
      }),
    );
  });
}

/** Opens a stream: a socket for pipes and sockets, so that writes do not block; a file stream for all other files. */
function streamOf(fd: number): Writable {
  const kind = fstatSync(fd);
  if (kind.isFIFO() || kind.isSocket()) return new Socket({ fd, readable: false, writable: true });
  return createWriteStream('', { fd, autoClose: false });
}

/**
 * Writes documents to a file descriptor. Unsubscribing does not stop a started document. If a write
 * fails, the document errors with `NotWritten`, and the next document begins on a new line.
 */
export function pipeWriter(fd: number): DocumentWriter {
  const opened = (): Writable => {
    const stream = streamOf(fd);
    // Each write reports its own failure. Without a listener, the first failure would end the process.
    return stream.on('error', () => undefined);
  };
  let stream = opened();
  let isTruncated = false;
  return ({ buffers, release }) =>
    new Observable((subscriber) => {
      const rest = buffers[Symbol.iterator]();
      let bytes = 0;
      const fail = (error: unknown) => {
        release();
        // A pipe or socket is closed after a failed write.
        if (stream instanceof Socket) subscriber.error(new BrokenPipe());
        else if (isSystemError(error)) {
          // A stream accepts no more writes after a failed write.
          stream = opened();
          isTruncated = true;
          subscriber.error(new NotWritten(`stdout cannot be written: ${messageOf(error)}`));
        } else subscriber.error(error);
      };
      const writeNext = () => {
        const buffer = rest.next();
        if (buffer.done === true) {
          release();
          subscriber.next(bytes);
          subscriber.complete();
          return;
        }
        bytes += buffer.value.length;
        stream.write(buffer.value, (error) => {
          if (error) fail(error);
          // A fast reader must not keep the event loop from other work.
          else setImmediate(writeNext);
        });
      };
      if (!isTruncated) writeNext();
      else
        stream.write('\n', (error) => {
          if (error) {
            fail(error);
            return;
          }
          isTruncated = false;
          writeNext();
        });
    });
}
