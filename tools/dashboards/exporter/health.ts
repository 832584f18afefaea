// What to look at first: whether the exporter runs, and whether it would start again.
import type { Drawing } from '../dashboard.js';
import { labelTable, stat } from '../drawings.js';
import { flagMappings, stateMappings, stateNumber } from '../states.js';
import { OWN, OF_EXPORTER, facts, own, target } from './series.js';

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
