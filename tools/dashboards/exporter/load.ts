// Panels of the exporter's dashboard: targets, scrapes, partitions, and the process.
import { PUBLISHER_STATES } from '#app/model.js';
import type { Drawing, Queries } from '../dashboard.js';
import { labelTable, stat, stateTimeline, timeSeries } from '../drawings.js';
import { flagMappings, stateMappings, stateNumber } from '../family-panel.js';

/** Label matchers for the exporters and targets that the user selects in the dashboard. */
export const OWN = 'job=~"$job",instance=~"$instance"';
const TARGET = `${OWN},app=~"$app",server_key=~"$server_key"`;
const OF_TARGET = '{{app}} {{server_key}} {{hint}} {{instance}}';
export const OF_EXPORTER = '{{instance}}';
const RANGE = '[$__rate_interval]';
const QUANTILES = ['p50', 'p95', 'p99'];

/** PromQL selectors: `own` for a metric of the exporter, `target` for a metric of its targets. */
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
/** Quantiles of a histogram over all its series of an exporter. */
const quantilesOf = (buckets: string): Queries =>
  Object.fromEntries(
    [0.5, 0.99].map((q) => [
      `p${q * 100} ${OF_EXPORTER}`,
      `histogram_quantile(${q}, sum by (instance, le) (${rate(buckets)}))`,
    ]),
  );
const share = (name: string): string => {
  const [hits, misses] = [rate(target(`${name}_hits_total`)), rate(target(`${name}_misses_total`))];
  return `${hits} / (${hits} + ${misses} > 0)`;
};
const wordsOf = (name: string): string =>
  name
    .replace(/^target_|^internal_target_/, '')
    .replace(/_total$/, '')
    .replaceAll('_', ' ');

/** Panels about the number and duration of scrapes. */
export const scrapes: readonly Drawing[] = [
  timeSeries('reqps', {
    title: 'Responses by status',
    description: '503 means that a target is not ready, or that too many scrapes ran at once.',
    queries: { '{{code}}': `sum by (code) (${rate(own('http_responses_total'))})` },
  }),
  timeSeries('s', {
    title: 'Duration of scrapes',
    description: 'Measured by Prometheus, for all jobs that scrape this exporter.',
    queries: {
      '{{job}} {{app}} {{server_key}}': `scrape_duration_seconds{instance=~"$instance"} and on (instance) ${own('build_info')}`,
    },
  }),
  timeSeries('Bps', {
    title: 'Bytes of responses',
    description: 'Bytes sent, and bytes saved by gzip.',
    queries: {
      'sent {{instance}}': rate(own('http_sent_bytes_total')),
      'saved {{instance}}': rate(own('http_saved_bytes_total')),
    },
  }),
  timeSeries('ms', {
    title: 'Duration of refreshes',
    description: 'Quantiles of the newest 512 refreshes of a target.',
    queries: quantiles('target_refresh_duration'),
  }),
  timeSeries('ms', {
    title: 'Queue wait',
    description: 'Quantiles of how long refreshes waited in the queue of their partition.',
    queries: quantiles('worker_dequeue_latency'),
  }),
  timeSeries('s', {
    title: 'Duration of responses to scrapes',
    description:
      'Measured by the exporter, from the request to the end of the response, for all scrapes. The bounds of the histogram are powers of ten.',
    queries: quantilesOf(own('http_scrape_duration_seconds_bucket')),
  }),
  timeSeries('s', {
    title: 'Refreshes of all targets',
    description: 'Durations of the refreshes of all targets in the range.',
    queries: quantilesOf(target('target_refresh_duration_seconds_bucket')),
  }),
  timeSeries('s', {
    title: 'Queue wait of all targets',
    description: 'Waits of the refreshes of all targets in the range.',
    queries: quantilesOf(target('target_queue_wait_seconds_bucket')),
  }),
  timeSeries('cps', {
    title: 'Refreshes',
    description: 'Refreshes per second, caused by scrapes and wake-ups.',
    queries: { [OF_TARGET]: rate(target('target_refresh_total')) },
  }),
  timeSeries('percentunit', {
    title: 'Scrapes from the render cache',
    description:
      'Share of the scrapes that needed no render, because nothing had changed since the last one.',
    queries: { [OF_TARGET]: share('internal_scrape_render_cache') },
  }),
  timeSeries('percentunit', {
    title: 'Scoped scrapes from the cache',
    description: 'Share of the scoped scrapes that the cache served.',
    queries: { [OF_TARGET]: share('internal_scrape_scope_cache') },
  }),
];

/** Panels about partitions and their targets, and about the variables that the setting `variable` selects. */
export const partitions: readonly Drawing[] = [
  timeSeries('short', {
    title: 'Busy to idle',
    description:
      'Time that the partition of a target spent on refreshes, divided by its idle time.',
    queries: byTarget('worker_busy_idle_ratio'),
  }),
  timeSeries('ms', {
    title: 'Average wait',
    description: 'Average time that refreshes waited in the queue.',
    queries: byTarget('worker_dequeue_latency_avg_ms'),
  }),
  // All targets show the same number, which counts the moves of the whole exporter.
  timeSeries('short', {
    title: 'Moves of targets',
    description: 'Total number of moves between partitions.',
    queries: { [OF_EXPORTER]: `max by (instance) (${target('worker_rebalance_total')})` },
  }),
  timeSeries('ms', {
    title: 'Last pass of rebalancing',
    description: 'Duration of the last pass.',
    queries: {
      [OF_EXPORTER]: `max by (instance) (${target('worker_rebalance_last_duration_ms')})`,
    },
  }),
  timeSeries('short', {
    title: 'Highlighted variables',
    description: 'Values of the variables that targets highlight.',
    queries: { '{{app}} {{server_key}} {{path}}': target('target_highlighted_value') },
  }),
];

/** Panels about the resources of the exporter's process, and its configuration. */
export const resources: readonly Drawing[] = [
  timeSeries('percentunit', {
    title: 'Processor',
    description: 'CPU seconds per second, of all threads.',
    queries: { [OF_EXPORTER]: rate(`process_cpu_seconds_total{${OWN}}`) },
  }),
  timeSeries('percentunit', {
    title: 'Event loop',
    description: 'Share of the time during which the event loop of the main thread was busy.',
    queries: { [OF_EXPORTER]: `nodejs_eventloop_utilization{${OWN}}` },
  }),
  timeSeries('bytes', {
    title: 'Memory',
    description: 'Resident memory, the heap of V8, and memory outside of that heap.',
    queries: {
      'resident {{instance}}': `process_resident_memory_bytes{${OWN}}`,
      'heap {{instance}}': `nodejs_heap_size_used_bytes{${OWN}}`,
      'external {{instance}}': `nodejs_external_memory_bytes{${OWN}}`,
    },
  }),
  timeSeries('percentunit', {
    title: 'Garbage collection',
    description: 'Seconds of garbage collection per second, by kind.',
    queries: { '{{kind}} {{instance}}': rate(`nodejs_gc_duration_seconds_sum{${OWN}}`) },
  }),
  timeSeries('percentunit', {
    title: 'File descriptors',
    description: 'Open file descriptors, as a share of the limit of the process.',
    queries: { [OF_EXPORTER]: `process_open_fds{${OWN}} / process_max_fds{${OWN}}` },
  }),
  timeSeries('short', {
    title: 'Configuration',
    description:
      'A hash of the configuration in use. A step is a change of the configuration. Equal hashes mean equal configurations.',
    queries: { [OF_EXPORTER]: own('config_hash') },
  }),
  stat('dateTimeFromNow', {
    title: 'Configuration loaded',
    description: 'The last start or reload that succeeded.',
    queries: { [OF_EXPORTER]: `${own('config_last_reload_success_timestamp_seconds')} * 1000` },
  }),
];

const publisher = stateNumber({
  metric: 'shm_exporter_publisher_state',
  label: 'state',
  states: PUBLISHER_STATES,
  selector: TARGET,
  by: ['instance', 'app', 'server_key', 'hint', 'twin'],
});

/** Panels that show which targets have metrics, and how old the values are. */
export const targets: readonly Drawing[] = [
  stateTimeline(flagMappings(['not ready', 'red'], ['ready', 'green']), {
    title: 'Readiness',
    description: 'A target that is not ready answers 503.',
    queries: byTarget('internal_target_ready'),
    w: 12,
  }),
  stateTimeline(stateMappings(PUBLISHER_STATES), {
    title: 'Publishers',
    description: 'State of the publisher of each target.',
    queries: { [OF_TARGET]: publisher },
    w: 12,
  }),
  timeSeries('short', {
    title: 'Items that wait for a first value',
    description:
      'Objects and variables without a first value. A target becomes ready when it has none.',
    queries: byTarget('internal_target_pending_sync_items'),
  }),
  timeSeries('s', {
    title: 'Age of the heartbeat',
    description:
      'A publisher is stalled if its last heartbeat is older than five heartbeat periods and older than three seconds.',
    queries: byTarget('target_heartbeat_age_seconds'),
  }),
  timeSeries('s', {
    title: 'Age of the last notification',
    description:
      'Only for publishers that have notified at least once. A publisher may notify only when its values change.',
    queries: byTarget('target_notification_age_seconds'),
  }),
  timeSeries('s', {
    title: 'Age of the values',
    description: 'Only for publishers that state the time of their values, such as the bridge.',
    queries: byTarget('target_as_of_age_seconds'),
  }),
  timeSeries('short', {
    title: 'Series',
    description: 'Application series shown.',
    queries: byTarget('target_series'),
  }),
  timeSeries('short', {
    title: 'Largest metrics',
    description: 'Series of the ten largest metrics of each target.',
    queries: { '{{family}} {{app}} {{server_key}} {{instance}}': target('family_series') },
  }),
  labelTable(['job'], {
    title: 'Targets',
    description: 'Root and partition of each target.',
    queries: { '': target('target_info') },
  }),
];
