// The metrics that every rendered target carries about itself. Spec 2.5.
import type { FamilyFacts, FamilyText, InternalMetric, Scope, TargetStatus } from '../model.js';
import { floatText } from './number-text.js';
import type { SampleWindow } from './sample-window.js';
import { labelsText, seriesText } from './text-format.js';

/** What a target counts, apart from its status. */
export interface TargetCounters {
  cacheHits: number;
  cacheMisses: number;
  scopeHits: number;
  scopeMisses: number;
  /** Milliseconds that the refreshes took; their number is the refresh count. */
  readonly refreshes: SampleWindow;
}

/** What the partition of a target measures. */
export interface WorkerFacts {
  readonly number: number;
  readonly busyIdleRatio: number;
  readonly waits: SampleWindow;
  readonly rebalances: number;
  readonly lastRebalanceMs: number;
}

/** What the view of a target measures; undefined while there is no root. */
export interface ViewFacts {
  readonly series: number;
  readonly clashes: number;
  readonly omitted: number;
  readonly staleFrames: number;
  readonly asOfAgeSeconds: number | undefined;
  readonly droppedObjects: number;
  readonly droppedVariables: number;
}

/** Everything that internal metrics speak of, at one moment. */
interface Moment {
  readonly status: TargetStatus;
  readonly counters: TargetCounters;
  readonly worker: WorkerFacts;
  readonly view: ViewFacts | undefined;
  /** Queue waits of the partition and refreshes of the target, in milliseconds. */
  readonly waits: Percentiles;
  readonly refreshes: Percentiles;
}
interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

type Row = readonly [
  name: string,
  type: InternalMetric['type'],
  help: string,
  /** Undefined where it is not known. */
  valueAt: (moment: Moment) => number | undefined,
];

const inside = 'shm_exporter_internal_';

/** In the order of the specification, then ours. */
const ROWS: readonly Row[] = [
  [
    `${inside}target_ready`,
    'gauge',
    '1 when the target serves scrapes, 0 when it answers 503.',
    ({ status }) => Number(status.isReady),
  ],
  [
    `${inside}target_initial_sync_complete`,
    'gauge',
    '1 after the tracked subtree finished its initial full sync.',
    ({ status }) => Number(status.isReady),
  ],
  [
    `${inside}target_pending_sync_items`,
    'gauge',
    'Objects and variables not yet synced for the first time.',
    ({ status }) => pendingOf(status),
  ],
  [
    `${inside}scrape_render_cache_hits_total`,
    'counter',
    'Scrapes served from the rendered-output cache.',
    ({ counters }) => counters.cacheHits,
  ],
  [
    `${inside}scrape_render_cache_misses_total`,
    'counter',
    'Scrapes that needed refreshed rendered output.',
    ({ counters }) => counters.cacheMisses,
  ],
  [
    `${inside}scrape_scope_cache_hits_total`,
    'counter',
    'Scoped scrapes served from the scope cache.',
    ({ counters }) => counters.scopeHits,
  ],
  [
    `${inside}scrape_scope_cache_misses_total`,
    'counter',
    'Scoped scrapes that needed rebuilding of scoped output.',
    ({ counters }) => counters.scopeMisses,
  ],
  [
    'shm_exporter_worker_busy_idle_ratio',
    'gauge',
    'Ratio of worker busy refresh time to idle queue-wait time.',
    ({ worker }) => worker.busyIdleRatio,
  ],
  [
    'shm_exporter_worker_dequeue_latency_avg_ms',
    'gauge',
    'Average worker queue wait.',
    ({ worker }) => worker.waits.mean,
  ],
  [
    'shm_exporter_worker_dequeue_latency_p50_ms',
    'gauge',
    'Median sampled queue wait.',
    ({ waits }) => waits.p50,
  ],
  [
    'shm_exporter_worker_dequeue_latency_p95_ms',
    'gauge',
    '95th percentile sampled queue wait.',
    ({ waits }) => waits.p95,
  ],
  [
    'shm_exporter_worker_dequeue_latency_p99_ms',
    'gauge',
    '99th percentile sampled queue wait.',
    ({ waits }) => waits.p99,
  ],
  [
    'shm_exporter_worker_rebalance_total',
    'counter',
    'Target moves done by runtime rebalancing.',
    ({ worker }) => worker.rebalances,
  ],
  [
    'shm_exporter_worker_rebalance_last_duration_ms',
    'gauge',
    'Duration of the most recent rebalance pass.',
    ({ worker }) => worker.lastRebalanceMs,
  ],
  [
    'shm_exporter_target_refresh_total',
    'counter',
    'Refresh cycles executed for the target.',
    ({ counters }) => counters.refreshes.count,
  ],
  [
    'shm_exporter_target_refresh_duration_p50_ms',
    'gauge',
    'Median sampled refresh duration.',
    ({ refreshes }) => refreshes.p50,
  ],
  [
    'shm_exporter_target_refresh_duration_p95_ms',
    'gauge',
    '95th percentile sampled refresh duration.',
    ({ refreshes }) => refreshes.p95,
  ],
  [
    'shm_exporter_target_refresh_duration_p99_ms',
    'gauge',
    '99th percentile sampled refresh duration.',
    ({ refreshes }) => refreshes.p99,
  ],
  [
    'shm_exporter_target_series',
    'gauge',
    'Application series that the target shows.',
    ({ view }) => view?.series,
  ],
  [
    'shm_exporter_target_series_clashes_total',
    'counter',
    'Series left out because another had their name and labels.',
    ({ view }) => view?.clashes,
  ],
  [
    'shm_exporter_target_series_omitted_total',
    'counter',
    'Series left out because the target would have shown more than it may.',
    ({ view }) => view?.omitted,
  ],
  [
    'shm_exporter_target_stale_frames_total',
    'counter',
    'Texts, histograms and summaries that kept changing while they were copied and kept their last value.',
    ({ view }) => view?.staleFrames,
  ],
  [
    'shm_exporter_target_dropped_objects',
    'gauge',
    'Objects that the publisher had no room for in its segment.',
    ({ view }) => view?.droppedObjects,
  ],
  [
    'shm_exporter_target_dropped_variables',
    'gauge',
    'Variables that the publisher had no room for in its segment.',
    ({ view }) => view?.droppedVariables,
  ],
  [
    'shm_exporter_target_heartbeat_age_seconds',
    'gauge',
    'Time since the last heartbeat of the publisher.',
    ({ status }) => status.publisher.heartbeatAgeSeconds,
  ],
  [
    'shm_exporter_target_as_of_age_seconds',
    'gauge',
    'Age of the values, where the publisher states the moment that they stand for.',
    ({ view }) => view?.asOfAgeSeconds,
  ],
];

/** Name, type, unit and help of every internal metric, by name. */
const FACTS: ReadonlyMap<string, FamilyFacts> = new Map(
  ROWS.map(([name, type, help]) => [name, { name, type, help, unit: '' }]),
);
const TARGET_INFO: FamilyFacts = {
  name: 'shm_exporter_target_info',
  type: 'info',
  help: 'Which target this page is of; always 1.',
  unit: '',
};

/** Every metric that a page may have beside those of the application. */
export const INTERNAL_FACTS: readonly FamilyFacts[] = [...FACTS.values(), TARGET_INFO];

/** The internal metrics of a target; what is unknown is left out. */
export function internalMetrics(
  status: TargetStatus,
  counters: TargetCounters,
  worker: WorkerFacts,
  view: ViewFacts | undefined,
): InternalMetric[] {
  const waits = percentilesOf(worker.waits);
  const refreshes = percentilesOf(counters.refreshes);
  const moment = { status, counters, worker, view, waits, refreshes };
  return ROWS.flatMap(([name, type, help, valueAt]) => {
    const value = valueAt(moment);
    return value === undefined ? [] : [{ name, type, help, value }];
  });
}

function percentilesOf(window: SampleWindow): Percentiles {
  const [p50 = 0, p95 = 0, p99 = 0] = window.percentiles(0.5, 0.95, 0.99);
  return { p50, p95, p99 };
}

function pendingOf({ progress: { objects, variables } }: TargetStatus): number {
  return objects.total - objects.synced + variables.total - variables.synced;
}

/**
 * The internal metrics of a target as text, all or those that a scope selects, with the info metric
 * that names the target.
 */
export function internalFamilies(
  metrics: readonly InternalMetric[],
  status: TargetStatus,
  scope?: Scope,
): FamilyText[] {
  const { app, serverKey, root, partition } = status;
  const labels = labelsText({ app, server_key: serverKey, root, partition: String(partition) });
  const info = { facts: TARGET_INFO, line: `${seriesText(TARGET_INFO.name, labels)} 1\n` };
  return metrics
    .map(({ name, type, help, value }) => ({
      facts: FACTS.get(name) ?? { name, type, help, unit: '' },
      line: `${name} ${floatText(value)}\n`,
    }))
    .concat(info)
    .filter(({ facts }) => scope?.selects(facts) ?? true)
    .map(({ facts, line }) => ({ facts, pieces: [Buffer.from(line)] }));
}
