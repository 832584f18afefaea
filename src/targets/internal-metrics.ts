// The metrics about a target itself. Spec 2.5.
import type { Counters } from '../exposition/counters.js';
import type { HighlightedValue } from '../exposition/read/highlight.js';
import type { Durations } from '../exposition/sample-window.js';
import { ShortFamily } from '../exposition/text/family-text.js';
import { labelsText, numberText, seriesText } from '../exposition/text/labels.js';
import type { Labels } from '../exposition/text/labels.js';
import type { FamilyFacts, FamilyText, InternalMetric, Scope, TargetStatus } from '../model.js';
import type { TargetFacts } from '../streams/report.js';

const HIGHLIGHTED = {
  name: 'shm_exporter_target_highlighted_value',
  type: 'gauge',
  help: 'Value of the highlighted variable; 1 for a text, which is the label value.',
  unit: '',
} as const satisfies FamilyFacts;

/** A gauge with the path as its label; a text is the label `value` of an info metric. */
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

/** The counters of a target: those of its views, and the scrapes that each cache served or not. */
export type TargetCounters = Counters &
  Record<'cacheHits' | 'cacheMisses' | 'scopeHits' | 'scopeMisses', number>;

/** The values that internal metrics read, at one moment. */
interface Moment {
  readonly facts: TargetFacts;
  readonly counts: Readonly<TargetCounters>;
  /** The durations of the target's refreshes. */
  readonly refreshes: Durations;
  readonly rebalances: Rebalances;
  /** Unix time in milliseconds. */
  readonly unixMs: number;
}

type Row = readonly [
  name: string,
  type: InternalMetric['type'],
  help: string,
  /** Undefined if the value is unknown. */
  valueAt: (moment: Moment) => number | undefined,
];

const inside = 'shm_exporter_internal_';

/** In the order of the specification, followed by further metrics. */
const ROWS: readonly Row[] = [
  [
    `${inside}target_ready`,
    'gauge',
    '1 when the target serves scrapes, 0 when it answers 503.',
    ({ facts }) => Number(facts.isReady),
  ],
  [
    `${inside}target_initial_sync_complete`,
    'gauge',
    '1 after the tracked subtree finished its initial full sync.',
    ({ facts }) => Number(facts.isReady),
  ],
  [
    `${inside}target_pending_sync_items`,
    'gauge',
    'Objects and variables not yet synced for the first time.',
    pendingOf,
  ],
  [
    `${inside}scrape_render_cache_hits_total`,
    'counter',
    'Scrapes served from the rendered-output cache.',
    ({ counts }) => counts.cacheHits,
  ],
  [
    `${inside}scrape_render_cache_misses_total`,
    'counter',
    'Scrapes that needed refreshed rendered output.',
    ({ counts }) => counts.cacheMisses,
  ],
  [
    `${inside}scrape_scope_cache_hits_total`,
    'counter',
    'Scoped scrapes served from the scope cache.',
    ({ counts }) => counts.scopeHits,
  ],
  [
    `${inside}scrape_scope_cache_misses_total`,
    'counter',
    'Scoped scrapes that needed rebuilding of scoped output.',
    ({ counts }) => counts.scopeMisses,
  ],
  [
    'shm_exporter_worker_busy_idle_ratio',
    'gauge',
    'Ratio of worker busy refresh time to idle queue-wait time.',
    ({ facts }) => facts.queue.busyIdleRatio,
  ],
  [
    'shm_exporter_worker_dequeue_latency_avg_ms',
    'gauge',
    'Average worker queue wait.',
    ({ facts }) => facts.queue.waits.mean,
  ],
  [
    'shm_exporter_worker_dequeue_latency_p50_ms',
    'gauge',
    'Median sampled queue wait.',
    ({ facts }) => facts.queue.waits.p50,
  ],
  [
    'shm_exporter_worker_dequeue_latency_p95_ms',
    'gauge',
    '95th percentile sampled queue wait.',
    ({ facts }) => facts.queue.waits.p95,
  ],
  [
    'shm_exporter_worker_dequeue_latency_p99_ms',
    'gauge',
    '99th percentile sampled queue wait.',
    ({ facts }) => facts.queue.waits.p99,
  ],
  [
    'shm_exporter_worker_rebalance_total',
    'counter',
    'Target moves done by runtime rebalancing.',
    ({ rebalances }) => rebalances.moves,
  ],
  [
    'shm_exporter_worker_rebalance_last_duration_ms',
    'gauge',
    'Duration of the most recent rebalance pass.',
    ({ rebalances }) => rebalances.lastMs,
  ],
  [
    'shm_exporter_target_refresh_total',
    'counter',
    'Refresh cycles executed for the target.',
    ({ refreshes }) => refreshes.count,
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
    ({ facts }) => facts.view?.series,
  ],
  [
    'shm_exporter_target_series_clashes_total',
    'counter',
    'Series left out because another had their name and labels, or another metric their name.',
    ({ counts }) => counts.clashes,
  ],
  [
    'shm_exporter_target_series_omitted_total',
    'counter',
    'Series left out because the target would have shown more than it may.',
    ({ counts }) => counts.omitted,
  ],
  [
    'shm_exporter_target_objects_omitted_total',
    'counter',
    'Objects left out because the target would have tracked more than it may.',
    ({ counts }) => counts.omittedObjects,
  ],
  [
    'shm_exporter_target_variables_omitted_total',
    'counter',
    'Variables left out because the target would have tracked more than it may.',
    ({ counts }) => counts.omittedVariables,
  ],
  [
    'shm_exporter_target_clashing_series',
    'gauge',
    'Series that are left out now because another has their name and labels, or another metric their name.',
    ({ facts }) => facts.view?.missing.clashingSeries,
  ],
  [
    'shm_exporter_target_omitted_series',
    'gauge',
    'Series that are left out now because the target may show no more.',
    ({ facts }) => facts.view?.missing.omittedSeries,
  ],
  [
    'shm_exporter_target_omitted_objects',
    'gauge',
    'Objects that are left out now because the target may track no more.',
    ({ facts }) => facts.view?.missing.omittedObjects,
  ],
  [
    'shm_exporter_target_omitted_variables',
    'gauge',
    'Variables that are left out now because the target may track no more.',
    ({ facts }) => facts.view?.missing.omittedVariables,
  ],
  [
    'shm_exporter_target_stale_frames_total',
    'counter',
    'Texts, histograms and summaries that kept changing while they were copied and kept their last value.',
    ({ counts }) => counts.staleFrames,
  ],
  [
    'shm_exporter_target_dropped_objects',
    'gauge',
    'Objects that the publisher had no room for in its segment.',
    ({ facts }) => facts.view?.droppedObjects,
  ],
  [
    'shm_exporter_target_dropped_variables',
    'gauge',
    'Variables that the publisher had no room for in its segment.',
    ({ facts }) => facts.view?.droppedVariables,
  ],
  [
    'shm_exporter_target_catalogue_rows_unmatched',
    'gauge',
    'Catalogue rows that read a variable which no object of their class has, where such objects are there; all rows while no object was of any class.',
    ({ facts }) => facts.view?.rowsWithoutVariable,
  ],
  [
    'shm_exporter_target_catalogue_rows_mistyped',
    'gauge',
    'Catalogue rows that read a variable of a type which they cannot show.',
    ({ facts }) => facts.view?.rowsOfWrongType,
  ],
  [
    'shm_exporter_target_variables_without_row',
    'gauge',
    'Variables that no catalogue row reads, in objects that some row is for.',
    ({ facts }) => facts.view?.variablesWithoutRow,
  ],
  [
    'shm_exporter_target_filters_unmatched',
    'gauge',
    'Entries of classes, seed_path_groups and seed_paths that have matched no object.',
    ({ facts }) => facts.view?.filtersUnmatched,
  ],
  [
    'shm_exporter_target_heartbeat_age_seconds',
    'gauge',
    'Time since the last heartbeat of the publisher.',
    ({ facts }) => facts.publisher.heartbeatAgeSeconds,
  ],
  [
    'shm_exporter_target_as_of_age_seconds',
    'gauge',
    'Age of the values, where the publisher states the moment that they stand for.',
    asOfAge,
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

/** The metrics of a page that are not the application's. */
export const INTERNAL_FACTS: readonly FamilyFacts[] = [...FACTS.values(), HIGHLIGHTED, TARGET_INFO];

/** The internal metrics of a target that have a value. */
export function internalMetrics(moment: Moment): InternalMetric[] {
  const metrics: InternalMetric[] = [];
  for (const [name, type, help, valueAt] of ROWS) {
    const value = valueAt(moment);
    if (value !== undefined) metrics.push({ name, type, help, value });
  }
  const { highlighted } = moment.facts;
  if (highlighted !== undefined) metrics.push(highlightedMetric(highlighted));
  return metrics;
}

function pendingOf({ facts }: Moment): number {
  const { objects, variables } = facts.progress;
  return objects.total - objects.synced + variables.total - variables.synced;
}

function asOfAge({ facts, unixMs }: Moment): number | undefined {
  const asOfNs = facts.view?.asOfNs;
  return asOfNs === undefined ? undefined : unixMs / 1e3 - Number(asOfNs) / 1e9;
}

/** The last text and value of each internal metric without labels, by name. */
export type ShownMetrics = Map<
  string,
  { readonly value: number | bigint; readonly family: FamilyText }
>;

/**
 * The text of a target's internal metrics that the scope selects, with the info metric that names the target.
 * @param shown a cache of the texts, which this function updates
 */
export function internalFamilies(
  metrics: readonly InternalMetric[],
  status: TargetStatus,
  scope?: Scope,
  shown: ShownMetrics = new Map(),
): FamilyText[] {
  const { app, serverKey, root, partition } = status;
  const families: FamilyText[] = [];
  for (const metric of metrics) {
    const { name, type, help, labels, value } = metric;
    const facts = FACTS.get(name) ?? { name, type, help, unit: '' };
    if (scope?.selects(facts) === false) continue;
    const last = labels === undefined ? shown.get(name) : undefined;
    if (last !== undefined && Object.is(last.value, value)) {
      families.push(last.family);
      continue;
    }
    const family = familyOf(facts, labels ?? {}, numberText(value));
    if (labels === undefined) shown.set(name, { value, family });
    families.push(family);
  }
  const labels = { app, server_key: serverKey, root, partition: String(partition) };
  if (scope?.selects(TARGET_INFO) !== false) families.push(familyOf(TARGET_INFO, labels, '1'));
  return families;
}

const familyOf = (facts: FamilyFacts, labels: Labels, value: string): FamilyText =>
  new ShortFamily(facts, `${seriesText(facts.name, labelsText(labels))} ${value}\n`);
