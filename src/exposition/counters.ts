// The counters of a target. They continue when the target moves or gets new settings, since ServedTarget adds up the
// counts that its hostings report.

interface CounterRow {
  /** An event happens once. A condition lasts, and each new view of the tree counts it again. */
  readonly kind: 'event' | 'condition';
  /** The name of its internal metric. */
  readonly metric: string;
  readonly help: string;
}

/** The counters, in the order of a page. */
export const COUNTERS = {
  clashes: {
    kind: 'condition',
    metric: 'shm_exporter_target_series_clashes_total',
    help: 'Series omitted because another series has the same name and labels, or another metric the same name.',
  },
  omittedSeries: {
    kind: 'condition',
    metric: 'shm_exporter_target_series_omitted_total',
    help: 'Series omitted because of a limit of the target or a reserved name.',
  },
  omittedObjects: {
    kind: 'condition',
    metric: 'shm_exporter_target_objects_omitted_total',
    help: 'Objects omitted because the target had reached its limit.',
  },
  omittedVariables: {
    kind: 'condition',
    metric: 'shm_exporter_target_variables_omitted_total',
    help: 'Variables omitted because the target had reached its limit.',
  },
  staleFrames: {
    kind: 'event',
    metric: 'shm_exporter_target_stale_frames_total',
    help: 'Copies of strings, histograms and summaries that failed because the value changed during every attempt.',
  },
} as const satisfies Readonly<Record<string, CounterRow>>;

export type CounterName = keyof typeof COUNTERS;
export type Counters = Record<CounterName, number>;
/** The counts at one moment, or the difference between two moments. */
export type Counts = Readonly<Counters>;

export const COUNTER_NAMES = Object.keys(COUNTERS) as CounterName[];

export const countersOf = (valueOf: (name: CounterName) => number): Counters =>
  Object.fromEntries(COUNTER_NAMES.map((name) => [name, valueOf(name)])) as Counters;

export const newCounters = (): Counters => countersOf(() => 0);

/** Adds `counts` to `to`, in place. */
export function addCounts(to: Counters, counts: Counts): void {
  for (const name of COUNTER_NAMES) to[name] += counts[name];
}

/** The counts since an earlier moment. */
export const diffOf = (now: Counts, before: Counts): Counts =>
  countersOf((name) => now[name] - before[name]);

/** The counts of events, with 0 for each condition. */
export const countsOfEvents = (counts: Counts): Counts =>
  countersOf((name) => (COUNTERS[name].kind === 'event' ? counts[name] : 0));
