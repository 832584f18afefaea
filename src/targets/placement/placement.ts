// How many partitions there are, and in which one a target is placed. Spec 1.10, 8.
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';

/** The highest number of partitions, whatever is configured. */
const MAX_PARTITIONS = 64;

/**
 * As many as configured; 0 means one for each target, within the cap. Threads beyond the processor's
 * cores gain nothing, so that there are no more of them.
 */
export function partitionCount(
  settings: {
    readonly targetWorkers: number;
    readonly workerExecutionMode: 'logical' | 'threaded';
  },
  targets: number,
  cores = availableParallelism(),
): number {
  const { targetWorkers, workerExecutionMode } = settings;
  if (targetWorkers > 0) return Math.min(targetWorkers, MAX_PARTITIONS);
  const most = workerExecutionMode === 'threaded' ? cores : MAX_PARTITIONS;
  return Math.max(1, Math.min(targets, most, MAX_PARTITIONS));
}

const MULTIPLIER = 2862933555777941757n;

/**
 * The partition of a key, from 0 on: the same for the same key and number of partitions. When there
 * are more partitions, a key stays or moves to one of the new. Jump consistent hash, Lamping and
 * Veach 2014.
 */
export function hashPlace(key: string, partitions: number): number {
  let state = createHash('sha256').update(key).digest().readBigUInt64LE(0);
  let place = 0;
  for (let next = 0; next < partitions;) {
    place = next;
    state = BigInt.asUintN(64, state * MULTIPLIER + 1n);
    next = Math.floor((place + 1) * (2 ** 31 / (Number(state >> 33n) + 1)));
  }
  return place;
}

/** The partition with the smallest load; the first of several. */
export const leastLoaded = (loads: readonly number[]): number =>
  loads.reduce((best, load, place) => (load < (loads[best] ?? Infinity) ? place : best), 0);
