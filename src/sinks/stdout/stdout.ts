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
import type { Exposition, Page, Target } from '../../model.js';
import type { Sink, SinkEvent } from '../sink.js';

/** Where documents go: emits when the page was taken and the reader wants more. */
export type PageWriter = (page: Page) => Observable<void>;

/** What a writer fails with when nobody reads any more: the printer then ends quietly. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

export interface StdoutOptions {
  readonly intervalSeconds: number;
  readonly document: (exposition: Exposition, time: Date) => Page;
  readonly write: PageWriter;
  readonly scheduler?: SchedulerLike;
}

/**
 * Prints every target at each tick. While the reader has not taken the last documents, ticks are
 * skipped and told of, so that memory does not grow.
 */
export function stdoutSink(options: StdoutOptions): Sink {
  const { intervalSeconds, document, write, scheduler = asyncScheduler } = options;
  const print = (target: Target): Observable<SinkEvent> =>
    target.demand().pipe(
      map((exposition) => document(exposition, new Date(scheduler.now()))),
      concatMap((page) =>
        write(page).pipe(map(() => ({ kind: 'served', status: 200, bytes: page.bytes }) as const)),
      ),
    );
  return (registry) =>
    defer(() => {
      let isPrinting = false;
      const printAll = () => {
        isPrinting = true;
        return from(registry.targets).pipe(
          concatMap(print),
          finalize(() => {
            isPrinting = false;
          }),
        );
      };
      return interval(intervalSeconds * 1000, scheduler).pipe(
        mergeMap(() => (isPrinting ? of<SinkEvent>({ kind: 'skipped' }) : printAll())),
        catchError((error: unknown) => {
          if (error instanceof ReaderGone) return EMPTY;
          throw error;
        }),
      );
    });
}
