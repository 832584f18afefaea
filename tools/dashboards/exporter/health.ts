// What to look at first: whether the exporter runs, and whether it would start again.
import type { Drawing } from '../dashboard.js';
import { labelTable, stat, stateTimeline, timeSeries } from '../drawings.js';
import { flagMappings, stateMappings, stateNumber } from '../family-panel.js';
import { OF_EXPORTER, OF_TARGET, OWN, byTarget, facts, own, rate, target } from './load.js';

const LICENSE_STATES = ['valid', 'grace', 'expired', 'early', 'invalid'];
/** As the alert has it. */
const TWO_WEEKS = 14 * 86_400;

const license = stateNumber({
  metric: 'shm_exporter_license_state',
  label: 'state',
  states: LICENSE_STATES,
  selector: OWN,
  by: ['instance'],
});

export const health: readonly Drawing[] = [
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

// What is missing from the pages of targets.
export const losses: readonly Drawing[] = [
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
      'Missing from the page now.',
      byTarget('target_omitted_series', 'target_omitted_objects', 'target_omitted_variables'),
    ),
  ),
  timeSeries(
    'short',
    facts(
      'Clashes of series',
      'Missing from the page now, since another has the same name and labels.',
      byTarget('target_clashing_series'),
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

// What the bridge says of the components that it polls.
const COMPONENT = 'app="shm_bridge",instance=~"$instance",server_key=~"$server_key"';
const bridgeRate = (name: string): string => rate(`shm_bridge_${name}{${COMPONENT}}`);
const component = (name: string): string => `shm_bridge_component_${name}{${COMPONENT}}`;
export const bridge: readonly Drawing[] = [
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
