// Panels of the exporter's dashboard: its health, its losses, worker processes, and the components of the bridge.
import { COUNTERS } from '#app/exposition/counters.js';
import type { Drawing } from '../dashboard.js';
import { labelTable, stat, stateTimeline, timeSeries } from '../drawings.js';
import { flagMappings, stateMappings, stateNumber } from '../family-panel.js';
import { OF_EXPORTER, OWN, byTarget, own, rate, target } from './load.js';

const LICENSE_STATES = ['valid', 'grace', 'expired', 'early', 'invalid'];
/** The threshold of the alert ShmLicenseExpiring, in seconds. */
const TWO_WEEKS = 14 * 86_400;

const license = stateNumber({
  metric: 'shm_exporter_license_state',
  label: 'state',
  states: LICENSE_STATES,
  selector: OWN,
  by: ['instance'],
});

/** Panels that show whether the exporter runs, and whether it could start again. */
export const health: readonly Drawing[] = [
  stat('none', {
    title: 'Exporter',
    description: 'Whether Prometheus can scrape /-/metrics.',
    queries: { [OF_EXPORTER]: `up{${OWN}}` },
    mappings: flagMappings(['down', 'red'], ['up', 'green']),
  }),
  stat('percentunit', {
    title: 'Targets ready',
    description: 'Share of the targets that have metrics.',
    queries: { [OF_EXPORTER]: `avg by (instance) (${target('internal_target_ready')})` },
    steps: [
      [null, 'red'],
      [1, 'green'],
    ],
  }),
  stat('dateTimeFromNow', {
    title: 'Started',
    description: 'A jump means a restart.',
    queries: { [OF_EXPORTER]: `process_start_time_seconds{${OWN}} * 1000` },
  }),
  stat('none', {
    title: 'License',
    description: 'Whether the exporter would start with the license now.',
    queries: { [OF_EXPORTER]: license },
    mappings: stateMappings(LICENSE_STATES),
  }),
  stat('s', {
    title: 'License expires',
    description: 'Time left; the grace of 36 hours is not counted.',
    queries: { [OF_EXPORTER]: `${own('license_expiry_timestamp_seconds')} - time()` },
    steps: [
      [null, 'red'],
      [0, 'orange'],
      [TWO_WEEKS, 'green'],
    ],
  }),
  stat('none', {
    title: 'Last reload',
    description: 'Whether the newest configuration is in use.',
    queries: { [OF_EXPORTER]: own('config_last_reload_successful') },
    mappings: flagMappings(['refused', 'red'], ['in use', 'green']),
  }),
  labelTable(['alertstate', 'job'], {
    title: 'Alerts that fire',
    description: 'docs/alerts.md says what to do about each.',
    queries: { '': `ALERTS{alertname=~"Shm.+",alertstate="firing",instance=~"$instance"}` },
    w: 12,
    h: 5,
  }),
  labelTable(['job'], {
    title: 'Version',
    description: 'The build of the exporter.',
    queries: { '': own('build_info') },
    w: 12,
    h: 5,
  }),
];

const COUNTED = Object.values(COUNTERS).map(({ metric }) => metric.replace(/^shm_exporter_/, ''));

/** Panels about data that is missing from the metrics pages of targets. */
export const losses: readonly Drawing[] = [
  timeSeries('short', {
    title: 'Left out',
    description:
      'All objects, variables and series that are missing from the page now. The other panels show the reasons.',
    queries: byTarget('target_left_out'),
  }),
  timeSeries('short', {
    title: 'No room in the segment',
    description: 'Objects and variables that the publisher dropped.',
    queries: byTarget('target_dropped_objects', 'target_dropped_variables'),
  }),
  timeSeries('short', {
    title: 'Omitted because of a limit',
    description: 'Missing from the page now.',
    queries: byTarget(
      'target_omitted_series',
      'target_omitted_objects',
      'target_omitted_variables',
    ),
  }),
  timeSeries('short', {
    title: 'Clashes of series and labels',
    description:
      'Series that are missing from the page now, since another series has the same name and labels; and label names that became exported_…, since the target has a label of the name.',
    queries: byTarget('target_clashing_series', 'target_renamed_labels'),
  }),
  timeSeries('cps', {
    title: 'Omissions and stale frames',
    description: 'Increase per second; docs/internal-metrics.md explains each metric.',
    queries: Object.fromEntries(
      Object.entries(byTarget(...COUNTED)).map(([legend, name]) => [legend, rate(name)]),
    ),
  }),
  timeSeries('short', {
    title: 'Catalogue and filters',
    description: 'Rows, variables and filters without a match.',
    queries: byTarget(
      'target_catalogue_rows_unmatched',
      'target_catalogue_rows_mistyped',
      'target_variables_without_row',
      'target_filters_unmatched',
    ),
  }),
  timeSeries('cps', {
    title: 'Clients',
    description:
      'Responses that were cut off, idle connections that were closed for new ones, and failed TLS handshakes, per second.',
    queries: {
      'cut {{instance}}': rate(own('http_cut_responses_total')),
      'replaced {{instance}}': rate(own('http_dropped_connections_total')),
      '{{reason}} {{instance}}': rate(own('tls_handshake_errors_total')),
    },
  }),
  timeSeries('short', {
    title: 'Faulty files of targets.d',
    description: 'Their targets are left out; the log and --check-config name the faults.',
    queries: { '{{file}}': own('target_file_faulty') },
  }),
  timeSeries('short', {
    title: 'Scopes that select nothing',
    description: 'The pages of these scopes answer 404.',
    queries: { [OF_EXPORTER]: own('scopes_unmatched') },
  }),
];

/** A metric about workers, whose name is `shm_workers` and a suffix. */
const workers = (suffix = ''): string =>
  `shm_workers${suffix}{app=~"$app",instance=~"$instance",server_key=~"$server_key"}`;
const WORKERS_LEGEND = '{{app}} {{server_key}} {{instance}}';

/** Panels about targets of the format `workers`. */
export const workerProcesses: readonly Drawing[] = [
  timeSeries('short', {
    title: 'Workers',
    description: 'Workers whose values are shown, and those among them that hang or are stopped.',
    queries: {
      [`shown ${WORKERS_LEGEND}`]: workers(),
      [`stalled ${WORKERS_LEGEND}`]: workers('_stalled'),
    },
  }),
  timeSeries('cps', {
    title: 'Ended workers',
    description: 'Workers that end per second. Their counts stay in the sums.',
    queries: { [WORKERS_LEGEND]: rate(workers('_ended_total')) },
  }),
  timeSeries('short', {
    title: 'Left out of the sums',
    description:
      'Workers and variables that are left out of the sums; the log states up to 16 reasons an hour.',
    queries: {
      [`workers ${WORKERS_LEGEND}`]: workers('_left_out'),
      [`variables ${WORKERS_LEGEND}`]: workers('_left_out_variables'),
    },
  }),
];

const COMPONENT = 'app="shm_bridge",instance=~"$instance",server_key=~"$server_key"';
const bridgeRate = (name: string): string => rate(`shm_bridge_${name}{${COMPONENT}}`);
const component = (name: string): string => `shm_bridge_component_${name}{${COMPONENT}}`;

/** Panels about the components that the bridge polls. */
export const bridge: readonly Drawing[] = [
  stateTimeline(flagMappings(['no tree', 'red'], ['polled', 'green']), {
    title: 'Components',
    description: 'Whether the last poll returned a tree.',
    queries: { '{{server_key}}': component('up') },
  }),
  timeSeries('cps', {
    title: 'Failed polls by reason',
    description: 'docs/bridge.md says what to do about each.',
    queries: { '{{server_key}} {{object}}': bridgeRate('failure_polls_total') },
  }),
  timeSeries('s', {
    title: 'Duration of polls',
    description: 'Duration of the last poll, and of storing its tree.',
    queries: {
      'poll {{server_key}}': component('last_poll_duration_seconds'),
      'store {{server_key}}': component('last_store_duration_seconds'),
    },
  }),
  timeSeries('short', {
    title: 'Objects and variables',
    description:
      'Objects and variables of the last tree, and how many of them had no room in the segment.',
    queries: {
      'objects {{server_key}}': component('objects'),
      'variables {{server_key}}': component('variables'),
      'dropped {{server_key}}': component('dropped'),
    },
  }),
  timeSeries('cps', {
    title: 'Changed values',
    description: 'Stored a second.',
    queries: { '{{server_key}}': bridgeRate('component_changed_values_total') },
  }),
  timeSeries('short', {
    title: 'Restarts of components',
    description: 'A total since the start of the bridge.',
    queries: { '{{server_key}}': component('restarts_total') },
  }),
];
