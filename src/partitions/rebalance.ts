// Which targets to move between partitions, so that their loads get more even. Spec 1.10.

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
 * Moves that even out the loads, most useful first: each takes the target from the fullest to the
 * emptiest partition that brings the two closest together. None is planned that would only swap
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
    const full = loads.indexOf(Math.max(...loads));
    const empty = loads.indexOf(Math.min(...loads));
    const gap = (loads[full] ?? 0) - (loads[empty] ?? 0);
    if ((loads[full] ?? 0) < least || gap <= (loads[full] ?? 0) * LEAST_DIFFERENCE) break;
    const index = bestFit(now, full, gap);
    const target = now[index];
    if (target === undefined) break;
    loads[full] = (loads[full] ?? 0) - target.load;
    loads[empty] = (loads[empty] ?? 0) + target.load;
    target.partition = empty;
    moves.push({ target: index, to: empty });
  }
  return moves;
}

/** The target whose move leaves the smallest gap, if that is clearly smaller than the present one. */
function bestFit(targets: readonly Loaded[], partition: number, gap: number): number {
  let best = -1;
  let smallest = gap * (1 - LEAST_DIFFERENCE);
  targets.forEach((each, index) => {
    const left = Math.abs(gap - 2 * each.load);
    if (each.partition !== partition || each.load <= 0 || left >= smallest) return;
    best = index;
    smallest = left;
  });
  return best;
}
