// The HTTP responder's own counters.
import type { SelfMetrics } from '../self-metrics.js';
import type { Sent } from './reply.js';

export interface HttpMetrics {
  /** Counts a response that is over. */
  readonly count: (sent: Sent) => void;
  /** Counts a connection that was closed to make room for another. */
  readonly dropped: () => void;
}

/** Adds its counters to those of the exporter. */
export function httpMetrics(metrics: Pick<SelfMetrics, 'counter'>): HttpMetrics {
  const responses = metrics.counter(
    'shm_exporter_http_responses_total',
    'HTTP responses by status code.',
    ['code'],
  );
  const bytes = metrics.counter(
    'shm_exporter_http_sent_bytes_total',
    'Bytes of response bodies that were sent.',
  );
  const saved = metrics.counter(
    'shm_exporter_http_saved_bytes_total',
    'Bytes of response bodies that were not sent, because gzip made them smaller.',
  );
  const cut = metrics.counter(
    'shm_exporter_http_cut_responses_total',
    'HTTP responses whose client went away or was too slow to get all of them.',
  );
  const dropped = metrics.counter(
    'shm_exporter_http_dropped_connections_total',
    'Idle connections that were closed to make room for new ones.',
  );
  return {
    count: (sent) => {
      responses(1, { code: String(sent.status) });
      bytes(sent.bytes);
      saved(sent.saved);
      cut(Number(sent.isCut));
    },
    dropped: () => {
      dropped(1);
    },
  };
}
