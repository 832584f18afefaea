// Which targets to move between partitions, so that their loads get more even. Spec 1.10.
import { leastLoaded } from './placement.js';

/** A target's partition and its load, in one unit for all. */
export interface Loaded {
  readonly partition: number;
  readonly load: number;
}

export interface Move {
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
