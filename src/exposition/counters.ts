// The counters of a target: its hostings report differences, ServedTarget keeps the sums, internal metrics show them.

interface Counter {
  /** An event counts when it happens; a condition when it begins, so each new view of the tree counts it again. */
  readonly kind: 'event' | 'condition';
  /** The name of its internal metric. */
  readonly metric: string;
  readonly help: string;
}

/** Each counter, in the order of a page. */
export const COUNTERS = {
  clashes: {
    kind: 'condition',
    metric: 'shm_exporter_target_series_clashes_total',
    help: 'Series omitted for a clash of name and labels, or of metric names.',
  },
  omitted: {
    kind: 'condition',
    metric: 'shm_exporter_target_series_omitted_total',
    help: 'Series omitted at the limit of the target.',
  },
  omittedObjects: {
    kind: 'condition',
    metric: 'shm_exporter_target_objects_omitted_total',
    help: 'Objects omitted at the limit of the target.',
  },
  omittedVariables: {
    kind: 'condition',
    metric: 'shm_exporter_target_variables_omitted_total',
    help: 'Variables omitted at the limit of the target.',
  },
  staleFrames: {
    kind: 'event',
    metric: 'shm_exporter_target_stale_frames_total',
    help: 'Texts, histograms and summaries not updated because they changed during each copy.',
  },
} as const satisfies Readonly<Record<string, Counter>>;

export type CounterName = keyof typeof COUNTERS;
export type Counters = Record<CounterName, number>;
/** The counters at one moment, or a difference. */
export type Counts = Readonly<Counters>;

export const COUNTER_NAMES = Object.keys(COUNTERS) as CounterName[];

export const countersOf = (valueOf: (name: CounterName) => number): Counters =>
  Object.fromEntries(COUNTER_NAMES.map((name) => [name, valueOf(name)])) as Counters;

export const newCounters = (): Counters => countersOf(() => 0);

/** Adds to counters, in place. */
export function addCounts(to: Counters, counts: Counts): void {
  for (const name of COUNTER_NAMES) to[name] += counts[name];
}

/** The counts since an earlier moment. */
export const diffOf = (now: Counts, before: Counts): Counts =>
  countersOf((name) => now[name] - before[name]);

/** The counts of events; conditions are 0. */
export const countsOfEvents = (counts: Counts): Counts =>
  countersOf((name) => (COUNTERS[name].kind === 'event' ? counts[name] : 0));
