// The dashboard of applications whose workers keep their metrics in a directory. Their own metrics differ, so it shows
// the workers' processes and the state of the directory.
import { dashboard, layOut } from './dashboard.js';
import type { Dashboard, Drawing, Section } from './dashboard.js';
import { stat, timeSeries } from './drawings.js';
import { SELECTOR } from './family-panel.js';

const APP = 'app=~"$app"';
const of = (name: string): string => `${name}{${APP},${SELECTOR}}`;
const ofTarget = '{{app}} {{service}} {{server_key}}';
const ofWorker = '{{app}} {{pid}}';
/** Only the workers have the label `pid`. */
const ofWorkers = (name: string): string => `${name}{${APP},${SELECTOR},pid!=""}`;
const RANGE = '[$__rate_interval]';

const workers: readonly Drawing[] = [
  stat('none', {
    title: 'Workers',
    description: 'Processes that the exporter has recognized by their files.',
    queries: { Workers: `count(${ofWorkers('process_start_time_seconds')})` },
  }),
  stat('bytes', {
    title: 'Memory of all workers',
    description: 'Resident memory. Pages that workers share are counted for each of them.',
    queries: { Memory: `sum(${ofWorkers('process_resident_memory_bytes')})` },
  }),
  stat('none', {
    title: 'Processors in use',
    description: 'Processor time of all workers per second.',
    queries: { Processors: `sum(rate(${ofWorkers('process_cpu_seconds_total')}${RANGE}))` },
  }),
  stat('dateTimeFromNow', {
    title: 'Last start of a worker',
    description: 'When the youngest worker started.',
    queries: { Start: `max(${ofWorkers('process_start_time_seconds')}) * 1000` },
  }),
  timeSeries('bytes', {
    title: 'Resident memory',
    description: 'Resident memory of each worker.',
    queries: { [ofWorker]: ofWorkers('process_resident_memory_bytes') },
  }),
  timeSeries('percentunit', {
    title: 'Processor time',
    description: 'Processor time of each worker, as a fraction of one processor.',
    queries: { [ofWorker]: `rate(${ofWorkers('process_cpu_seconds_total')}${RANGE})` },
  }),
  timeSeries('none', {
    title: 'Threads',
    description: 'Threads of each worker.',
    queries: { [ofWorker]: ofWorkers('process_threads') },
  }),
  timeSeries('percentunit', {
    title: 'Open descriptors',
    description: 'Open files and sockets of each worker, divided by its limit.',
    queries: {
      [ofWorker]: `${ofWorkers('process_open_fds')} / ${ofWorkers('process_max_fds')}`,
    },
  }),
];

const directory: readonly Drawing[] = [
  timeSeries('none', {
    title: 'Files',
    description: 'Metric files in the directory, and those of workers that have ended.',
    queries: {
      [`all ${ofTarget}`]: of('multiprocess_files'),
      [`of ended workers ${ofTarget}`]: of('multiprocess_dead_files'),
    },
  }),
  timeSeries('bytes', {
    title: 'Size',
    description: 'Used bytes of the metric files.',
    queries: { [ofTarget]: of('multiprocess_bytes') },
  }),
  timeSeries('none', {
    title: 'Left out',
    description: 'Files that cannot be read, and entries that are no valid series.',
    queries: {
      [`files ${ofTarget}`]: of('multiprocess_left_out_files'),
      [`entries ${ofTarget}`]: of('multiprocess_left_out_entries'),
    },
  }),
];

const SECTIONS: readonly Section[] = [
  { title: 'Workers', drawings: workers },
  { title: 'Directory', drawings: directory },
];

export function multiprocessDashboard(): Dashboard {
  const valuesOf = (label: string, more = '') =>
    `label_values(multiprocess_files${more}, ${label})`;
  return dashboard(
    {
      uid: 'shm-multiprocess',
      title: 'Workers with metric files',
      description:
        'Workers of Python and Ruby applications, and the directories of their metrics. Docs: docs/multiprocess.md and docs/alerts.md.',
      variables: [
        { name: 'job', label: 'Job', query: valuesOf('job') },
        { name: 'app', label: 'Application', query: valuesOf('app') },
        { name: 'server_key', label: 'Server key', query: valuesOf('server_key', `{${APP}}`) },
        { name: 'root', label: 'Root', query: valuesOf('root', `{${APP}}`) },
      ],
    },
    layOut(SECTIONS),
  );
}
