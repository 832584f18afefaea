// Which targets have metrics, and how old their values are.
import { PUBLISHER_STATES } from '#app/model.js';
import type { Drawing } from '../dashboard.js';
import { labelTable, stateTimeline, timeSeries } from '../drawings.js';
import { flagMappings, stateMappings, stateNumber } from '../states.js';
import { TARGET, OF_TARGET, facts, target, byTarget } from './series.js';

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
