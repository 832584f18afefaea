// Places targets in partitions, and moves them from busy to idle ones.
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

/** A target's partition and its load, in one unit for all. */
export interface Loaded {
  readonly partition: number;
  readonly load: number;
}

interface Move {
  /** Index of the target. */
  readonly target: number;
  readonly to: number;
}

/** A difference below this part of the larger load is left alone, or targets would move for ever. */
const LEAST_DIFFERENCE = 0.2;

/**
 * Moves that even out the loads, most useful first: each takes the target from the fullest
 * partition that has a fitting one to the emptiest that brings the two closest together. None is planned that would only swap
 * their roles.
 * @param least a partition below this load is not worth relieving
 */
export function planMoves(
  targets: readonly Loaded[],
  partitions: number,
  most: number,
  least: number,
): readonly Move[] {
  const now = targets.map((each) => ({ ...each }));
  const loads = Array.from({ length: partitions }, () => 0);
  for (const { partition, load } of now) loads[partition] = (loads[partition] ?? 0) + load;
  const moves: Move[] = [];
  while (moves.length < most) {
    const empty = leastLoaded(loads);
    const best = fromFullest(loads)
      .filter((full) => isWorthIt(loads[full] ?? 0, loads[empty] ?? 0, least))
      .map((full) => bestFit(now, full, (loads[full] ?? 0) - (loads[empty] ?? 0)))
      .find((index) => index !== undefined);
    const target = best === undefined ? undefined : now[best];
    if (best === undefined || target === undefined) break;
    loads[target.partition] = (loads[target.partition] ?? 0) - target.load;
    loads[empty] = (loads[empty] ?? 0) + target.load;
    target.partition = empty;
    moves.push({ target: best, to: empty });
  }
  return moves;
}

/** Partitions by their loads. One whose load is a single target must not stop the others. */
const fromFullest = (loads: readonly number[]): number[] =>
  [...loads.keys()].sort((a, b) => (loads[b] ?? 0) - (loads[a] ?? 0));

const isWorthIt = (full: number, empty: number, least: number): boolean =>
  full >= least && full - empty > full * LEAST_DIFFERENCE;

/** The target whose move leaves the smallest gap, if that is clearly smaller than the present one. */
function bestFit(targets: readonly Loaded[], partition: number, gap: number): number | undefined {
  let best: number | undefined;
  let smallest = gap * (1 - LEAST_DIFFERENCE);
  targets.forEach((each, index) => {
    const left = Math.abs(gap - 2 * each.load);
    if (each.partition !== partition || each.load <= 0 || left >= smallest) return;
    best = index;
    smallest = left;
  });
  return best;
}
