// How targets share the partitions, and the variables that are highlighted.
import type { Drawing } from '../dashboard.js';
import { timeSeries } from '../drawings.js';
import { OF_EXPORTER, facts, target, byTarget } from './series.js';

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
