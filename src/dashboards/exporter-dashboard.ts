// The dashboard of the exporter itself, from /-/metrics; a table, since its metrics are in no catalogue.
import { PUBLISHER_STATES } from '../model.js';
import { dashboard } from './dashboard.js';
import type { Dashboard, Drawing, Section } from './dashboard.js';
import { labelTable, stat, stateTimeline, timeSeries } from './drawings.js';
import { layOut } from './layout.js';
import { flagMappings, stateMappings, stateNumber } from './states.js';

const OWN = 'job=~"$job",instance=~"$instance"';
const TARGET = `${OWN},app=~"$app",server_key=~"$server_key"`;
const OF_TARGET = '{{app}} {{server_key}} {{hint}} {{instance}}';
const OF_EXPORTER = '{{instance}}';
const LICENSE_STATES = ['valid', 'grace', 'expired', 'early', 'unreadable'];
/** As the alert has it. */
const TWO_WEEKS = 14 * 86_400;
const RANGE = '[$__rate_interval]';
const QUANTILES = ['p50', 'p95', 'p99'];

type Queries = Readonly<Record<string, string>>;
const facts = (title: string, description: string, queries: Queries, w?: number, h?: number) => ({
  title,
  description,
  queries: Object.entries(queries).map(([legend, expr]) => ({ expr, legend })),
  ...(w !== undefined && { w }),
  ...(h !== undefined && { h }),
});

/** Of each exporter or target. */
const own = (name: string): string => `shm_exporter_${name}{${OWN}}`;
const target = (name: string): string => `shm_exporter_${name}{${TARGET}}`;
const rate = (series: string): string => `rate(${series}${RANGE})`;
const byTarget = (...names: readonly string[]): Queries =>
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

const publisher = stateNumber({
  metric: 'shm_exporter_publisher_state',
  label: 'state',
  states: PUBLISHER_STATES,
  selector: TARGET,
  by: ['instance', 'app', 'server_key', 'hint', 'twin'],
});
const license = stateNumber({
  metric: 'shm_exporter_license_state',
  label: 'state',
  states: LICENSE_STATES,
  selector: OWN,
  by: ['instance'],
});

const health: readonly Drawing[] = [
  stat(
    'none',
    facts('Exporter', 'Whether Prometheus gets /-/metrics.', { [OF_EXPORTER]: `up{${OWN}}` }),
    { mappings: flagMappings(['down', 'red'], ['up', 'green']) },
  ),
  stat(
    'percentunit',
    facts('Targets ready', 'Share of the targets that have metrics.', {
      [OF_EXPORTER]: `avg by (instance) (${target('internal_target_ready')})`,
    }),
    {
      steps: [
        [null, 'red'],
        [1, 'green'],
      ],
    },
  ),
  stat(
    'dateTimeFromNow',
    facts('Started', 'A jump means a restart.', {
      [OF_EXPORTER]: `process_start_time_seconds{${OWN}} * 1000`,
    }),
  ),
  stat(
    'none',
    facts('License', 'What a start would make of the license now.', { [OF_EXPORTER]: license }),
    { mappings: stateMappings(LICENSE_STATES) },
  ),
  stat(
    's',
    facts('License expires', 'Time left; the grace of 36 hours is not counted.', {
      [OF_EXPORTER]: `${own('license_expiry_timestamp_seconds')} - time()`,
    }),
    {
      steps: [
        [null, 'red'],
        [0, 'orange'],
        [TWO_WEEKS, 'green'],
      ],
    },
  ),
  stat(
    'none',
    facts('Last reload', 'Whether the newest configuration is in use.', {
      [OF_EXPORTER]: own('config_last_reload_successful'),
    }),
    { mappings: flagMappings(['refused', 'red'], ['in use', 'green']) },
  ),
  labelTable(
    ['alertstate', 'job'],
    facts(
      'Alerts that fire',
      'docs/alerts.md says what to do about each.',
      { '': `ALERTS{alertname=~"Shm.+",alertstate="firing",instance=~"$instance"}` },
      12,
      5,
    ),
  ),
  labelTable(
    ['job'],
    facts('Version', 'The build of the exporter.', { '': own('build_info') }, 12, 5),
  ),
];

const targets: readonly Drawing[] = [
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

const scrapes: readonly Drawing[] = [
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

const losses: readonly Drawing[] = [
  timeSeries(
    'short',
    facts(
      'No room in the segment',
      'Objects and variables that the publisher dropped.',
      byTarget('target_dropped_objects', 'target_dropped_variables'),
    ),
  ),
  timeSeries(
    'short',
    facts(
      'Left out beyond a limit',
      'Totals since the start of the exporter.',
      byTarget(
        'target_series_omitted_total',
        'target_objects_omitted_total',
        'target_variables_omitted_total',
      ),
    ),
  ),
  timeSeries(
    'short',
    facts(
      'Clashes of series',
      'Left out since another had the same name and labels; a total.',
      byTarget('target_series_clashes_total'),
    ),
  ),
  timeSeries(
    'cps',
    facts('Stale frames', 'Texts, histograms and summaries that kept their last value, a second.', {
      [OF_TARGET]: rate(target('target_stale_frames_total')),
    }),
  ),
  timeSeries(
    'short',
    facts(
      'Catalogue and filters',
      'Rows, variables and filters that fit nothing.',
      byTarget(
        'target_catalogue_rows_unmatched',
        'target_catalogue_rows_mistyped',
        'target_variables_without_row',
        'target_filters_unmatched',
      ),
    ),
  ),
  timeSeries(
    'cps',
    facts('Clients', 'Responses that were cut, connections that were replaced, a second.', {
      'cut {{instance}}': rate(own('http_cut_responses_total')),
      'replaced {{instance}}': rate(own('http_dropped_connections_total')),
    }),
  ),
  timeSeries(
    'short',
    facts('Scopes that select nothing', 'Their pages answer 404.', {
      [OF_EXPORTER]: own('scopes_unmatched'),
    }),
  ),
];

const process: readonly Drawing[] = [
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

const partitions: readonly Drawing[] = [
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

const COMPONENT = 'app="shm_bridge",instance=~"$instance",server_key=~"$server_key"';
const bridgeRate = (name: string): string => rate(`shm_bridge_${name}{${COMPONENT}}`);
const component = (name: string): string => `shm_bridge_component_${name}{${COMPONENT}}`;
const bridge: readonly Drawing[] = [
  stateTimeline(
    flagMappings(['no tree', 'red'], ['polled', 'green']),
    facts('Components', 'Whether the last poll gave a tree.', {
      '{{server_key}}': component('up'),
    }),
  ),
  timeSeries(
    'cps',
    facts('Failed polls by reason', 'docs/bridge.md says what to do about each.', {
      '{{server_key}} {{object}}': bridgeRate('failure_polls_total'),
    }),
  ),
  timeSeries(
    's',
    facts('Duration of polls', 'The last one, and what storing its tree took.', {
      'poll {{server_key}}': component('last_poll_duration_seconds'),
      'store {{server_key}}': component('last_store_duration_seconds'),
    }),
  ),
  timeSeries(
    'short',
    facts('Objects and variables', 'Of the last tree, and those without room in the segment.', {
      'objects {{server_key}}': component('objects'),
      'variables {{server_key}}': component('variables'),
      'dropped {{server_key}}': component('dropped'),
    }),
  ),
  timeSeries(
    'cps',
    facts('Changed values', 'Stored a second.', {
      '{{server_key}}': bridgeRate('component_changed_values_total'),
    }),
  ),
  timeSeries(
    'short',
    facts('Restarts of components', 'A total since the start of the bridge.', {
      '{{server_key}}': component('restarts_total'),
    }),
  ),
];

const SECTIONS: readonly Section[] = [
  { title: 'Health', drawings: health },
  { title: 'Targets', drawings: targets },
  { title: 'Scrapes', drawings: scrapes },
  { title: 'Losses', drawings: losses },
  { title: 'Process', drawings: process },
  { title: 'Partitions and highlighted variables', isCollapsed: true, drawings: partitions },
  { title: 'Bridge', isCollapsed: true, drawings: bridge },
];

export const exporterDashboard = (): Dashboard =>
  dashboard(
    {
      uid: 'shm-exporter',
      title: 'shm_exporter',
      description:
        'The exporter and the state of its targets. Docs: docs/outputs.md and docs/alerts.md.',
      variables: [
        { name: 'job', label: 'Job', query: 'label_values(shm_exporter_build_info, job)' },
        {
          name: 'instance',
          label: 'Exporter',
          query: 'label_values(shm_exporter_build_info{job=~"$job"}, instance)',
        },
        {
          name: 'app',
          label: 'Application',
          query: `label_values(shm_exporter_internal_target_ready{${OWN}}, app)`,
        },
        {
          name: 'server_key',
          label: 'Server key',
          query: `label_values(shm_exporter_internal_target_ready{${OWN},app=~"$app"}, server_key)`,
        },
      ],
    },
    layOut(SECTIONS),
  );
