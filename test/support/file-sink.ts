// A further sink beside HTTP, stdout and textfile. It appends a snapshot of every target to a file. It
// shows that sinks can be added.
import { appendFile } from 'node:fs/promises';
import { EMPTY, catchError, concatMap, from, interval, mergeMap, of, startWith } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Format, Page, Target } from '#app/model.js';
import type { SelfMetrics } from '#app/sinks/self-metrics.js';
import type { Sink, SinkEvent } from '#app/sinks/sink.js';

export interface FileSinkOptions {
  readonly path: string;
  /** Renders the text. It is an option because sinks must not import from `exposition`. */
  readonly format: Format;
  readonly everyMs: number;
  readonly selfMetrics: SelfMetrics;
}

export function fileSink({ path, format, everyMs, selfMetrics }: FileSinkOptions): Sink {
  const written = selfMetrics.counter('shm_exporter_file_bytes_total', 'Bytes in the file.');
  const append = async (made: Page | Promise<Page>): Promise<SinkEvent> => {
    const { buffers, bytes, release } = await made;
    const page = Buffer.concat(buffers);
    release();
    await appendFile(path, page);
    written(bytes);
    return { kind: 'served', bytes, outcome: 'delivered' };
  };
  const print = (target: Target) =>
    target.demand().pipe(
      mergeMap((answer): Observable<SinkEvent> | Promise<SinkEvent> => {
        if (answer.kind === 'waiting') return EMPTY;
        return append(format.page(answer));
      }),
      // Skip a snapshot that cannot be written: an error would end the service.
      catchError(() => of<SinkEvent>({ kind: 'skipped', reason: `cannot write ${path}` })),
    );
  return (registry) =>
    interval(everyMs).pipe(
      concatMap(() => from(registry.targets).pipe(concatMap(print))),
      startWith<SinkEvent>({ kind: 'opened', where: path }),
    );
}
