// The counters of a target: views add to this record, reports carry differences of it, internal metrics read it.

const NO_COUNTS = {
  /** Series that were not shown because another series or metric had their name. */
  clashes: 0,
  /** Series and framed values that were left out because of a limit. */
  omitted: 0,
  omittedObjects: 0,
  omittedVariables: 0,
  /** Framed values that could not be copied whole in time and kept their last good value. */
  staleFrames: 0,
};

export type CounterName = keyof typeof NO_COUNTS;
export type Counters = Record<CounterName, number>;
/** The counters at one moment, or a difference. */
export type Counts = Readonly<Counters>;

export const newCounters = (): Counters => ({ ...NO_COUNTS });

/** Adds to counters, in place. */
export function addCounts(to: Counters, counts: Counts): void {
  for (const name of Object.keys(NO_COUNTS) as CounterName[]) to[name] += counts[name];
}

/** The counts since an earlier moment. */
export function diffOf(now: Counts, before: Counts): Counts {
  const diff = newCounters();
  for (const name of Object.keys(NO_COUNTS) as CounterName[]) diff[name] = now[name] - before[name];
  return diff;
}
