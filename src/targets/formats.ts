// The formats that a target can have: one line each, and a folder with what watches it.
import type { SharedMemory } from '../native/os/shared-memory.js';
import { segmentWatches } from '../native/segment/segment-watch.js';
import type { Watches } from '../streams/watch.js';

/** Settings of the pool that a format may need to find its server keys. Plain data. */
export interface PoolSettings {
  readonly contextId: string;
  readonly poolName: string;
  /** How long a publisher that stopped beating is served; 0 for ever. */
  readonly stalledAfterSeconds?: number | undefined;
  /** Users whose segments are read, beside root and that of the process; empty reads all. */
  readonly trustedOwners?: readonly number[] | undefined;
  /** The most objects and variables of a segment. */
  readonly segmentMaxItems?: number | undefined;
}

export interface FormatParts extends PoolSettings {
  readonly memory: SharedMemory;
  /** Nanoseconds of the clock of heartbeats; by default the system's, CLOCK_MONOTONIC. */
  readonly nowNs?: (() => bigint) | undefined;
}

const FORMATS: Readonly<Record<string, (parts: FormatParts) => Watches>> = {
  native: ({ memory, ...pool }) => segmentWatches(memory, pool),
};

export const FORMAT_NAMES: readonly string[] = Object.keys(FORMATS);

/** What watches the server keys of each format, by its name. */
export const formatWatches = (parts: FormatParts): ReadonlyMap<string, Watches> =>
  new Map(Object.entries(FORMATS).map(([name, watches]) => [name, watches(parts)]));
