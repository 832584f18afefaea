// How many scrapes there are, and how long they take.
import { PUBLISHER_STATES } from '#app/model.js';
import type { Drawing } from '../dashboard.js';
import { labelTable, stat, stateTimeline, timeSeries } from '../drawings.js';
import { flagMappings, stateMappings, stateNumber } from '../family-panel.js';

// The series of the exporter's dashboard, as its variables choose them.
export const OWN = 'job=~"$job",instance=~"$instance"';
const TARGET = `${OWN},app=~"$app",server_key=~"$server_key"`;
export const OF_TARGET = '{{app}} {{server_key}} {{hint}} {{instance}}';
export const OF_EXPORTER = '{{instance}}';
const RANGE = '[$__rate_interval]';
const QUANTILES = ['p50', 'p95', 'p99'];

type Queries = Readonly<Record<string, string>>;
export const facts = (
  title: string,
  description: string,
  queries: Queries,
  w?: number,
  h?: number,
) => ({
  title,
  description,
  queries: Object.entries(queries).map(([legend, expr]) => ({ expr, legend })),
  ...(w !== undefined && { w }),
  ...(h !== undefined && { h }),
});

/** Of each exporter or target. */
export const own = (name: string): string => `shm_exporter_${name}{${OWN}}`;
export const target = (name: string): string => `shm_exporter_${name}{${TARGET}}`;
export const rate = (series: string): string => `rate(${series}${RANGE})`;
export const byTarget = (...names: readonly string[]): Queries =>
  Object.fromEntries(
    names.map((name) => [
      names.length === 1 ? OF_TARGET : `${wordsOf(name)} ${OF_TARGET}`,
      target(name),
    ]),
  );
const quantiles = (name: string): Queries =>
  Object.fromEntries(QUANTILES.map((q) => [`${q} ${OF_TARGET}`, target(`${name}_${q}_ms`)]));
const share = (name: string): string => {
  const [hits, misses] = [rate(target(`${name}_hits_total`)), rate(target(`${name}_misses_total`))];
  return `${hits} / (${hits} + ${misses} > 0)`;
};
const wordsOf = (name: string): string =>
  name
    .replace(/^target_|^internal_target_/, '')
    .replace(/_total$/, '')
    .replaceAll('_', ' ');

export const scrapes: readonly Drawing[] = [
  timeSeries(
    'reqps',
    facts('Responses by status', '503: a target is not ready, or too many scrapes at once.', {
      '{{code}}': `sum by (code) (${rate(own('http_responses_total'))})`,
    }),
  ),
  timeSeries(
    's',
    facts('Duration of scrapes', 'As Prometheus sees it, for all jobs that scrape this exporter.', {
      '{{job}} {{app}} {{server_key}}': `scrape_duration_seconds{instance=~"$instance"} and on (instance) ${own('build_info')}`,
    }),
  ),
  timeSeries(
    'Bps',
    facts('Bytes of responses', 'Sent, and saved by gzip.', {
      'sent {{instance}}': rate(own('http_sent_bytes_total')),
      'saved {{instance}}': rate(own('http_saved_bytes_total')),
    }),
  ),
  timeSeries(
    'ms',
    facts(
      'Duration of refreshes',
      'Quantiles of the newest 512 refreshes of a target.',
      quantiles('target_refresh_duration'),
    ),
  ),
  timeSeries(
    'ms',
    facts(
      'Wait for a turn',
      'Quantiles of how long refreshes waited in the queue of their partition.',
      quantiles('worker_dequeue_latency'),
    ),
  ),
  timeSeries(
    'cps',
    facts('Refreshes', 'A second, by scrapes and wake-ups.', {
      [OF_TARGET]: rate(target('target_refresh_total')),
    }),
  ),
  timeSeries(
    'percentunit',
    facts('Scrapes from the render cache', 'Nothing had changed since the last render.', {
      [OF_TARGET]: share('internal_scrape_render_cache'),
    }),
  ),
  timeSeries(
    'percentunit',
    facts('Scoped scrapes from the cache', 'Of scrapes of a scope.', {
      [OF_TARGET]: share('internal_scrape_scope_cache'),
    }),
  ),
];

// How targets share the partitions, and the variables that are highlighted.
export const partitions: readonly Drawing[] = [
  timeSeries(
    'short',
    facts(
      'Busy to idle',
      'Time that the partition of a target spent on refreshes, divided by its idle time.',
      byTarget('worker_busy_idle_ratio'),
    ),
  ),
  timeSeries(
    'ms',
    facts('Average wait', 'For a turn in the queue.', byTarget('worker_dequeue_latency_avg_ms')),
  ),
  // Each target shows the same number: it is one of the exporter.
  timeSeries(
    'short',
    facts('Moves of targets', 'Between partitions; a total.', {
      [OF_EXPORTER]: `max by (instance) (${target('worker_rebalance_total')})`,
    }),
  ),
  timeSeries(
    'ms',
    facts('Last pass of rebalancing', 'How long it took.', {
      [OF_EXPORTER]: `max by (instance) (${target('worker_rebalance_last_duration_ms')})`,
    }),
  ),
  timeSeries(
    'short',
    facts('Highlighted variables', 'Those that the setting variable names.', {
      '{{app}} {{server_key}} {{path}}': target('target_highlighted_value'),
    }),
  ),
];

// What the process of the exporter uses, and its configuration.
export const resources: readonly Drawing[] = [
  timeSeries(
    'percentunit',
    facts('Processor', 'Seconds in a second, of all threads.', {
      [OF_EXPORTER]: rate(`process_cpu_seconds_total{${OWN}}`),
    }),
  ),
  timeSeries(
    'percentunit',
    facts('Event loop', 'Share of the time in which the main thread was not idle.', {
      [OF_EXPORTER]: `nodejs_eventloop_utilization{${OWN}}`,
    }),
  ),
  timeSeries(
    'bytes',
    facts('Memory', 'Resident, of the heap of V8, and outside of it.', {
      'resident {{instance}}': `process_resident_memory_bytes{${OWN}}`,
      'heap {{instance}}': `nodejs_heap_size_used_bytes{${OWN}}`,
      'external {{instance}}': `nodejs_external_memory_bytes{${OWN}}`,
    }),
  ),
  timeSeries(
    'percentunit',
    facts('Garbage collection', 'Seconds in a second, by kind.', {
      '{{kind}} {{instance}}': rate(`nodejs_gc_duration_seconds_sum{${OWN}}`),
    }),
  ),
  timeSeries(
    'percentunit',
    facts('File descriptors', 'Share of those that the process may have open.', {
      [OF_EXPORTER]: `process_open_fds{${OWN}} / process_max_fds{${OWN}}`,
    }),
  ),
  timeSeries(
    'short',
    facts(
      'Configuration',
      'A hash of the configuration in use: a step is a change, exporters with the same one have the same.',
      {
        [OF_EXPORTER]: own('config_hash'),
      },
    ),
  ),
  stat(
    'dateTimeFromNow',
    facts('Configuration loaded', 'The last start or reload that succeeded.', {
      [OF_EXPORTER]: `${own('config_last_reload_success_timestamp_seconds')} * 1000`,
    }),
  ),
];

// Which targets have metrics, and how old their values are.
const publisher = stateNumber({
  metric: 'shm_exporter_publisher_state',
  label: 'state',
  states: PUBLISHER_STATES,
  selector: TARGET,
  by: ['instance', 'app', 'server_key', 'hint', 'twin'],
});
export const targets: readonly Drawing[] = [
  stateTimeline(
    flagMappings(['not ready', 'red'], ['ready', 'green']),
    facts(
      'Readiness',
      'A target that is not ready answers 503.',
      byTarget('internal_target_ready'),
      12,
    ),
  ),
  stateTimeline(
    stateMappings(PUBLISHER_STATES),
    facts('Publishers', 'The processes that keep the segments.', { [OF_TARGET]: publisher }, 12),
  ),
  timeSeries(
    'short',
    facts(
      'Items that wait for a first value',
      'Above 0 at a start; a target is ready once it is 0.',
      byTarget('internal_target_pending_sync_items'),
    ),
  ),
  timeSeries(
    's',
    facts(
      'Age of the heartbeat',
      'Older than five periods and three seconds, the publisher is stalled.',
      byTarget('target_heartbeat_age_seconds'),
    ),
  ),
  timeSeries(
    's',
    facts(
      'Age of the values',
      'Of publishers that state it, as the bridge does.',
      byTarget('target_as_of_age_seconds'),
    ),
  ),
  timeSeries('short', facts('Series', 'Application series shown.', byTarget('target_series'))),
  labelTable(
    ['job'],
    facts('Targets', 'What each shows, and in which partition.', { '': target('target_info') }),
  ),
];
