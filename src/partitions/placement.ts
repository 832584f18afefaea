// In which partition a target is placed: by a stable hash, or where the least load is. Spec 1.10.
import { createHash } from 'node:crypto';

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
