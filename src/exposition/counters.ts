// The counters of a hosting: its views add to them, reports carry differences, internal metrics read them.

/**
 * Each counter, by its kind. A view counts an `event` when it happens. It counts a `condition` when it begins, so a
 * second view of the same tree counts it again.
 */
const KINDS = {
  /** Series that were not shown because another series or metric had their name. */
  clashes: 'condition',
  /** Series and framed values that were left out because of a limit. */
  omitted: 'condition',
  omittedObjects: 'condition',
  omittedVariables: 'condition',
  /** Framed values that could not be copied whole in time and kept their last good value. */
  staleFrames: 'event',
} as const;

export type CounterName = keyof typeof KINDS;
export type Counters = Record<CounterName, number>;
/** The counters at one moment, or a difference. */
export type Counts = Readonly<Counters>;

const NAMES = Object.keys(KINDS) as CounterName[];

const countersOf = (valueOf: (name: CounterName) => number): Counters =>
  Object.fromEntries(NAMES.map((name) => [name, valueOf(name)])) as Counters;

export const newCounters = (): Counters => countersOf(() => 0);

/** Adds to counters, in place. */
export function addCounts(to: Counters, counts: Counts): void {
  for (const name of NAMES) to[name] += counts[name];
}

/** The counts since an earlier moment. */
export const diffOf = (now: Counts, before: Counts): Counts =>
  countersOf((name) => now[name] - before[name]);

/** The counts of events; conditions are 0. */
export const countsOfEvents = (counts: Counts): Counts =>
  countersOf((name) => (KINDS[name] === 'event' ? counts[name] : 0));
