// What the process of the exporter uses, and its configuration.
import type { Drawing } from '../dashboard.js';
import { stat, timeSeries } from '../drawings.js';
import { OWN, OF_EXPORTER, facts, own, rate } from './series.js';

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
