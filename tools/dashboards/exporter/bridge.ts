// What the bridge says of the components that it polls.
import type { Drawing } from '../dashboard.js';
import { stateTimeline, timeSeries } from '../drawings.js';
import { flagMappings } from '../states.js';
import { facts, rate } from './series.js';

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
