// The metrics about a target itself. Spec 2.5.
import { COUNTERS, COUNTER_NAMES } from '../exposition/counters.js';
import type { Counters } from '../exposition/counters.js';
import type { DurationHistogram } from '../exposition/duration-histogram.js';
import type { HighlightedValue } from '../exposition/read/highlight.js';
import type { Durations } from '../exposition/sample-window.js';
import { sampleText } from '../exposition/text/text-syntax.js';
import type {
  FamilyMetadata,
  FamilyLines,
  InternalMetric,
  MetricLevel,
  Scope,
  TargetStatus,
} from '../model.js';
import type { TargetState } from '../streams/report.js';

const HIGHLIGHTED = {
  name: 'shm_exporter_target_highlighted_value',
  type: 'gauge',
  help: 'Value of the highlighted variable; 1 if it is a string, with the string as a label.',
  unit: '',
} as const satisfies FamilyMetadata;

/**
 * A gauge with the path of the variable as a label. For a string variable, the gauge is 1, and the label `value` has
 * the string.
 */
export const highlightedMetric = ({ path, value, text }: HighlightedValue): InternalMetric => ({
  name: HIGHLIGHTED.name,
  type: HIGHLIGHTED.type,
  help: HIGHLIGHTED.help,
  value,
  labels: { path, value: text ?? '' },
});

/** The counters of rebalancing, for all targets. */
export interface Rebalances {
  readonly moves: number;
  readonly lastMs: number;
}

/** The counters of a target: the counters of its views, and the hits and misses of its caches. */
export type TargetCounters = Counters &
  Record<'cacheHits' | 'cacheMisses' | 'scopeHits' | 'scopeMisses', number>;

/** The values that internal metrics read, at one moment. */
interface Moment {
  readonly state: TargetState;
  readonly counts: Readonly<TargetCounters>;
  /** The durations of the target's refreshes. */
  readonly refreshes: Durations;
  readonly rebalances: Rebalances;
  /** Seconds since the last notification of the publisher; undefined if it has made none. */
  readonly notificationAge: number | undefined;
  /** Unix time in milliseconds. */
  readonly unixMs: number;
}

/** The help text of a metric, and a function that reads its value; undefined if the value is unknown. */
type Row = readonly [help: string, valueAt: (moment: Moment) => number | undefined];

/** The rows for the median, the 95th and the 99th percentile of durations, in milliseconds. */
const percentiles = (
  name: string,
  quantity: string,
  durationsAt: (moment: Moment) => Durations,
): Readonly<Record<string, Row>> => ({
  [`${name}_p50_ms`]: [`Median sampled ${quantity}.`, (at) => durationsAt(at).p50],
  [`${name}_p95_ms`]: [`95th percentile sampled ${quantity}.`, (at) => durationsAt(at).p95],
  [`${name}_p99_ms`]: [`99th percentile sampled ${quantity}.`, (at) => durationsAt(at).p99],
});

/** The metrics of the specification, in the order there, then all other metrics. A name of a counter ends in `_total`. */
const TABLE: Readonly<Record<string, Row>> = {
  shm_exporter_internal_target_ready: [
    '1 when the target serves scrapes, 0 when it answers 503.',
    ({ state }) => Number(state.isReady),
  ],
  shm_exporter_internal_target_initial_sync_complete: [
    '1 after the tracked subtree finished its initial full sync.',
    ({ state }) => Number(state.isReady),
  ],
  shm_exporter_internal_target_pending_sync_items: [
    'Objects and variables not yet synced for the first time.',
    pendingOf,
  ],
  shm_exporter_internal_scrape_render_cache_hits_total: [
    'Scrapes served from the rendered-output cache.',
    ({ counts }) => counts.cacheHits,
  ],
  shm_exporter_internal_scrape_render_cache_misses_total: [
    'Scrapes that needed refreshed rendered output.',
    ({ counts }) => counts.cacheMisses,
  ],
  shm_exporter_internal_scrape_scope_cache_hits_total: [
    'Scoped scrapes served from the scope cache.',
    ({ counts }) => counts.scopeHits,
  ],
  shm_exporter_internal_scrape_scope_cache_misses_total: [
    'Scoped scrapes that the scope cache could not serve.',
    ({ counts }) => counts.scopeMisses,
  ],
  shm_exporter_worker_busy_idle_ratio: [
    'Busy time of the worker divided by its waiting time.',
    ({ state }) => state.queue.busyIdleRatio,
  ],
  shm_exporter_worker_dequeue_latency_avg_ms: [
    'Average worker queue wait.',
    ({ state }) => state.queue.waits.mean,
  ],
  ...percentiles(
    'shm_exporter_worker_dequeue_latency',
    'queue wait',
    ({ state }) => state.queue.waits,
  ),
  shm_exporter_worker_rebalance_total: [
    'Target moves done by runtime rebalancing.',
    ({ rebalances }) => rebalances.moves,
  ],
  shm_exporter_worker_rebalance_last_duration_ms: [
    'Duration of the most recent rebalance pass.',
    ({ rebalances }) => rebalances.lastMs,
  ],
  shm_exporter_target_refresh_total: [
    'Refresh cycles executed for the target.',
    ({ refreshes }) => refreshes.count,
  ],
  ...percentiles(
    'shm_exporter_target_refresh_duration',
    'refresh duration',
    ({ refreshes }) => refreshes,
  ),
  shm_exporter_target_series: [
    'Application series of the target.',
    ({ state }) => state.view?.series,
  ],
  ...Object.fromEntries(
    COUNTER_NAMES.map((name): [string, Row] => {
      const { metric, help } = COUNTERS[name];
      return [metric, [help, ({ counts }) => counts[name]]];
    }),
  ),
  shm_exporter_target_clashing_series: [
    'Series omitted now because another series has the same name and labels, or another metric the same name.',
    ({ state }) => state.view?.missing.clashingSeries,
  ],
  shm_exporter_target_omitted_series: [
    'Series omitted now because the target has reached its limit.',
    ({ state }) => state.view?.missing.omittedSeries,
  ],
  shm_exporter_target_omitted_objects: [
    'Objects omitted now because the target has reached its limit.',
    ({ state }) => state.view?.missing.omittedObjects,
  ],
  shm_exporter_target_omitted_variables: [
    'Variables omitted now because the target has reached its limit.',
    ({ state }) => state.view?.missing.omittedVariables,
  ],
  shm_exporter_target_dropped_objects: [
    'Objects without room in the segment.',
    ({ state }) => state.view?.drops.objects,
  ],
  shm_exporter_target_dropped_variables: [
    'Variables without room in the segment, and uses of label sets beyond the limit of their metric.',
    ({ state }) => state.view?.drops.variables,
  ],
  shm_exporter_target_left_out: [
    'Sum of the dropped, omitted and clashing objects, variables and series.',
    leftOut,
  ],
  shm_exporter_target_catalogue_rows_unmatched: [
    'Catalogue rows whose variable is missing in all objects of their class. Until the first object of a catalogue class appears, every row counts.',
    ({ state }) => state.view?.rowsWithoutVariable,
  ],
  shm_exporter_target_catalogue_rows_mistyped: [
    'Catalogue rows that cannot show the type of their variable.',
    ({ state }) => state.view?.rowsOfWrongType,
  ],
  shm_exporter_target_variables_without_row: [
    'Variables without a catalogue row, in objects of catalogue classes.',
    ({ state }) => state.view?.variablesWithoutRow,
  ],
  shm_exporter_target_filters_unmatched: [
    'Entries of classes, seed_path_groups and seed_paths that have matched no object.',
    ({ state }) => state.view?.filtersUnmatched,
  ],
  shm_exporter_target_renamed_labels: [
    'Label names that became exported_… because the target has a label of the name; with the host page.',
    ({ state }) => state.view?.renamedLabels,
  ],
  shm_exporter_target_heartbeat_age_seconds: [
    'Time since the last heartbeat of the publisher.',
    ({ state }) => state.publisher.heartbeatAgeSeconds,
  ],
  shm_exporter_target_notification_age_seconds: [
    'Time since the last notification of the publisher.',
    ({ notificationAge }) => notificationAge,
  ],
  shm_exporter_target_as_of_age_seconds: [
    'Age of the values, if the publisher states their time.',
    asOfAge,
  ],
};

const ROWS = Object.entries(TABLE).map(([name, [help, valueAt]]) => {
  const type: InternalMetric['type'] = name.endsWith('_total') ? 'counter' : 'gauge';
  return { name, type, help, unit: '', valueAt };
});

const FAMILY_SERIES = {
  name: 'shm_exporter_family_series',
  type: 'gauge',
  help: 'Number of series of a metric, for the ten metrics with the most series.',
  unit: '',
} as const satisfies FamilyMetadata;
const REFRESHES = {
  name: 'shm_exporter_target_refresh_duration_seconds',
  type: 'histogram',
  help: 'Duration of refreshes.',
  unit: '',
} as const satisfies FamilyMetadata;
const WAITS = {
  name: 'shm_exporter_target_queue_wait_seconds',
  type: 'histogram',
  help: 'Time that refreshes of the target waited in the queue of their partition.',
  unit: '',
} as const satisfies FamilyMetadata;

const TARGET_INFO: FamilyMetadata = {
  name: 'shm_exporter_target_info',
  type: 'info',
  help: 'Labels of the target; always 1.',
  unit: '',
};

/** The metadata of the internal metrics of a page, in order, and of the info metric that names the target. */
const PAGE_METADATA: readonly FamilyMetadata[] = [...ROWS, HIGHLIGHTED, TARGET_INFO];
/**
 * The metadata of all internal metrics. Those of `detailMetrics` are at `/-/metrics` only: they have many series, and
 * the largest metrics name other metrics of a page, so `grep` would find each twice.
 */
export const INTERNAL_METADATA: readonly FamilyMetadata[] = [
  ...PAGE_METADATA,
  FAMILY_SERIES,
  REFRESHES,
  WAITS,
];

/** The metrics of the level `basic`; with the state of its publisher, at most 6 series for each target. */
const BASIC = new Set([
  'shm_exporter_internal_target_ready',
  'shm_exporter_target_left_out',
  'shm_exporter_target_heartbeat_age_seconds',
  HIGHLIGHTED.name,
  TARGET_INFO.name,
]);

/** The level of the metrics on the page of a target. */
export type PageLevel = MetricLevel | 'none';

const isShown = (name: string, level: PageLevel): boolean =>
  level === 'full' || (level === 'basic' && BASIC.has(name));

/** The metadata of all internal metrics of a level. */
export const internalMetadata = (level: MetricLevel): readonly FamilyMetadata[] =>
  INTERNAL_METADATA.filter(({ name }) => isShown(name, level));

/** The metadata of the internal metrics on the pages of targets. */
export const pageMetadata = (level: PageLevel): readonly FamilyMetadata[] =>
  PAGE_METADATA.filter(({ name }) => isShown(name, level));

/** The level of the metrics on the pages of targets. */
export const pageLevel = ({
  internalMetrics: level,
  pagesWithoutInternalMetrics: isNone,
}: {
  readonly internalMetrics: MetricLevel;
  readonly pagesWithoutInternalMetrics: boolean;
}): PageLevel => (isNone ? 'none' : level);

/** The same metadata object for each page, so that formats make its header once. */
const METADATA = new Map(PAGE_METADATA.map((metadata) => [metadata.name, metadata]));

/** The internal metrics on the page of a target that have a value. */
export function internalMetrics(moment: Moment): InternalMetric[] {
  const metrics: InternalMetric[] = [];
  for (const { name, type, help, valueAt } of ROWS) {
    const value = valueAt(moment);
    if (value !== undefined) metrics.push({ name, type, help, value });
  }
  const { highlighted } = moment.state;
  if (highlighted !== undefined) metrics.push(highlightedMetric(highlighted));
  return metrics;
}

/**
 * The internal metrics of a target that only `/-/metrics` has.
 * @param durations how long the refreshes of the target took
 * @param waits how long they waited before
 */
export function detailMetrics(
  { view }: Pick<TargetState, 'view'>,
  durations: DurationHistogram,
  waits: DurationHistogram,
): InternalMetric[] {
  const largest = view?.largestFamilies ?? [];
  return [
    ...largest.map(({ name: family, series }) => ({
      ...FAMILY_SERIES,
      labels: { family },
      value: series,
    })),
    ...durations.series(REFRESHES),
    ...waits.series(WAITS),
  ];
}

function pendingOf({ state }: Moment): number {
  const { objects, variables } = state.progress;
  return objects.total - objects.synced + variables.total - variables.synced;
}

function leftOut({ state: { view } }: Moment): number | undefined {
  if (view === undefined) return undefined;
  const { missing, drops } = view;
  const omitted = missing.omittedObjects + missing.omittedVariables + missing.omittedSeries;
  return omitted + missing.clashingSeries + drops.objects + drops.variables;
}

function asOfAge({ state, unixMs }: Moment): number | undefined {
  const asOfNs = state.view?.asOfNs;
  return asOfNs === undefined ? undefined : unixMs / 1e3 - Number(asOfNs) / 1e9;
}

/**
 * The text of the internal metrics of the level, and of the info metric that names the target. A scope selects some of
 * them.
 */
export function internalFamilies(
  metrics: readonly InternalMetric[],
  { app, serverKey, root, partition }: TargetStatus,
  scope?: Scope,
  level: PageLevel = 'full',
): FamilyLines[] {
  const labels = { app, server_key: serverKey, root, partition: String(partition) };
  const info = { ...TARGET_INFO, type: 'gauge', labels, value: 1 } as const;
  const texts = new Map<FamilyMetadata, string>();
  for (const metric of [...metrics, info]) {
    const metadata = METADATA.get(metric.name) ?? { ...metric, unit: '' };
    if (!isShown(metadata.name, level) || scope?.selects(metadata) === false) continue;
    texts.set(metadata, (texts.get(metadata) ?? '') + sampleText(metric));
  }
  return [...texts].map(([metadata, text]) => ({ metadata, text }));
}
