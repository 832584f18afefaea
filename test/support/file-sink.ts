// A third sink, as somebody else might write it: appends a snapshot of every target to a file.
import { appendFile } from 'node:fs/promises';
import { EMPTY, concatMap, from, interval, mergeMap, startWith } from 'rxjs';
import type { Observable } from 'rxjs';
import { TEXT } from '#app/exposition/page/text-format.js';
import type { Target } from '#app/model.js';
import type { SelfMetrics } from '#app/sinks/self-metrics.js';
import type { Sink, SinkEvent } from '#app/sinks/sink.js';

export interface FileSinkOptions {
  readonly path: string;
  readonly everyMs: number;
  readonly selfMetrics: SelfMetrics;
}

export function fileSink({ path, everyMs, selfMetrics }: FileSinkOptions): Sink {
  const written = selfMetrics.counter('shm_exporter_file_bytes_total', 'Bytes in the file.');
  const append = async (text: string): Promise<SinkEvent> => {
    await appendFile(path, text);
    written(text.length);
    return { kind: 'served', bytes: text.length, outcome: 'delivered' };
  };
  const print = (target: Target) =>
    target.demand().pipe(
      mergeMap((exposition): Observable<SinkEvent> | Promise<SinkEvent> => {
        if (exposition.kind === 'waiting') return EMPTY;
        const { pieces, release } = TEXT.page(exposition);
        const text = Buffer.concat(pieces).toString();
        release();
        return append(text);
      }),
    );
  return (registry) =>
    interval(everyMs).pipe(
      concatMap(() => from(registry.targets).pipe(concatMap(print))),
      startWith<SinkEvent>({ kind: 'opened', where: path }),
    );
}
