// The metrics that every rendered target carries about itself. Spec 2.5.
import type { InternalMetric, TargetStatus } from '../model.js';
import { numberText } from './number-text.js';
import type { TargetFacts } from './target-facts.js';
import { headerText, labelsText, seriesText } from './text-format.js';

/** What a target counts, apart from its status. */
export interface TargetCounters {
  cacheHits: number;
  cacheMisses: number;
  scopeHits: number;
  scopeMisses: number;
}

/** What rebalancing did so far, for all targets. */
export interface Rebalances {
  readonly moves: number;
  readonly lastMs: number;
}

type Row = readonly [
  name: string,
  type: InternalMetric['type'],
  help: string,
  value: number | undefined,
];

/** The internal metrics in the order of the specification, then ours; what is unknown is left out. */
export function internalMetrics(
  { isReady, progress, publisher, view, refreshes, queue }: TargetFacts,
  counters: TargetCounters,
  rebalances: Rebalances,
  unixMs: number,
): InternalMetric[] {
  const { objects, variables } = progress;
  const pending = objects.total - objects.synced + variables.total - variables.synced;
  const asOfAge = view?.asOfNs === undefined ? undefined : unixMs / 1e3 - Number(view.asOfNs) / 1e9;
  const ready = Number(isReady);
  const inside = 'shm_exporter_internal_';
  const rows: readonly Row[] = [
    [
      `${inside}target_ready`,
      'gauge',
      '1 when the target serves scrapes, 0 when it answers 503.',
      ready,
    ],
    [
      `${inside}target_initial_sync_complete`,
      'gauge',
      '1 after the tracked subtree finished its initial full sync.',
      ready,
    ],
    [
      `${inside}target_pending_sync_items`,
      'gauge',
      'Objects and variables not yet synced for the first time.',
      pending,
    ],
    [
      `${inside}scrape_render_cache_hits_total`,
      'counter',
      'Scrapes served from the rendered-output cache.',
      counters.cacheHits,
    ],
    [
      `${inside}scrape_render_cache_misses_total`,
      'counter',
      'Scrapes that needed refreshed rendered output.',
      counters.cacheMisses,
    ],
    [
      `${inside}scrape_scope_cache_hits_total`,
      'counter',
      'Scoped scrapes served from the scope cache.',
      counters.scopeHits,
    ],
    [
      `${inside}scrape_scope_cache_misses_total`,
      'counter',
      'Scoped scrapes that needed rebuilding of scoped output.',
      counters.scopeMisses,
    ],
    [
      'shm_exporter_worker_busy_idle_ratio',
      'gauge',
      'Ratio of worker busy refresh time to idle queue-wait time.',
      queue.busyIdleRatio,
    ],
    [
      'shm_exporter_worker_dequeue_latency_avg_ms',
      'gauge',
      'Average worker queue wait.',
      queue.waits.mean,
    ],
    [
      'shm_exporter_worker_dequeue_latency_p50_ms',
      'gauge',
      'Median sampled queue wait.',
      queue.waits.p50,
    ],
    [
      'shm_exporter_worker_dequeue_latency_p95_ms',
      'gauge',
      '95th percentile sampled queue wait.',
      queue.waits.p95,
    ],
    [
      'shm_exporter_worker_dequeue_latency_p99_ms',
      'gauge',
      '99th percentile sampled queue wait.',
      queue.waits.p99,
    ],
    [
      'shm_exporter_worker_rebalance_total',
      'counter',
      'Target moves done by runtime rebalancing.',
      rebalances.moves,
    ],
    [
      'shm_exporter_worker_rebalance_last_duration_ms',
      'gauge',
      'Duration of the most recent rebalance pass.',
      rebalances.lastMs,
    ],
    [
      'shm_exporter_target_refresh_total',
      'counter',
      'Refresh cycles executed for the target.',
      refreshes.count,
    ],
    [
      'shm_exporter_target_refresh_duration_p50_ms',
      'gauge',
      'Median sampled refresh duration.',
      refreshes.p50,
    ],
    [
      'shm_exporter_target_refresh_duration_p95_ms',
      'gauge',
      '95th percentile sampled refresh duration.',
      refreshes.p95,
    ],
    [
      'shm_exporter_target_refresh_duration_p99_ms',
      'gauge',
      '99th percentile sampled refresh duration.',
      refreshes.p99,
    ],
    [
      'shm_exporter_target_series',
      'gauge',
      'Application series that the target shows.',
      view?.series,
    ],
    [
      'shm_exporter_target_series_clashes_total',
      'counter',
      'Series left out because another had their name and labels.',
      view?.clashes,
    ],
    [
      'shm_exporter_target_series_omitted_total',
      'counter',
      'Series left out because the target would have shown more than it may.',
      view?.omitted,
    ],
    [
      'shm_exporter_target_stale_frames_total',
      'counter',
      'Texts, histograms and summaries that kept changing while they were copied and kept their last value.',
      view?.staleFrames,
    ],
    [
      'shm_exporter_target_dropped_objects',
      'gauge',
      'Objects that the publisher had no room for in its segment.',
      view?.droppedObjects,
    ],
    [
      'shm_exporter_target_dropped_variables',
      'gauge',
      'Variables that the publisher had no room for in its segment.',
      view?.droppedVariables,
    ],
    [
      'shm_exporter_target_heartbeat_age_seconds',
      'gauge',
      'Time since the last heartbeat of the publisher.',
      publisher.heartbeatAgeSeconds,
    ],
    [
      'shm_exporter_target_as_of_age_seconds',
      'gauge',
      'Age of the values, where the publisher states the moment that they stand for.',
      asOfAge,
    ],
  ];
  return rows.flatMap(([name, type, help, value]) =>
    value === undefined ? [] : [{ name, type, help, value }],
  );
}

/** The internal metrics of a target as text 0.0.4, with the info metric that names the target. */
export function internalText(metrics: readonly InternalMetric[], status: TargetStatus): string {
  const { app, serverKey, root, partition } = status;
  const name = 'shm_exporter_target_info';
  const help = 'Which target this page is of; always 1.';
  const labels = labelsText({ app, server_key: serverKey, root, partition: String(partition) });
  const info = `${headerText({ name, type: 'info', help, unit: '' })}${seriesText(name, labels)} 1\n`;
  return metrics.map((metric) => headerOf(metric) + internalLine(metric)).join('') + info;
}

/** The series line of an internal metric. */
export const internalLine = ({ name, labels = {}, value }: InternalMetric): string =>
  `${seriesText(name, labelsText(labels))} ${numberText(value)}\n`;

/** Header lines by metric name: they are the same at every scrape. */
const headers = new Map<string, string>();
function headerOf({ name, type, help }: InternalMetric): string {
  let header = headers.get(name);
  if (header === undefined) {
    header = headerText({ name, type, help, unit: '' });
    headers.set(name, header);
  }
  return header;
}
