// Chooses the partition of a new target, and plans moves from busy to idle partitions.
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';

/** The maximum number of partitions, even if more are configured. */
const MAX_PARTITIONS = 64;

/**
 * The configured number of partitions; 0 means one for each target, up to the maximum. More threads than processor
 * cores bring no gain.
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
 * Maps a key to a partition, counted from 0, by jump consistent hash (Lamping and Veach 2014). If partitions are added,
 * a key keeps its partition or moves to a new one.
 */
export function hashPartition(key: string, partitions: number): number {
  let state = createHash('sha256').update(key).digest().readBigUInt64LE(0);
  let partition = 0;
  for (let next = 0; next < partitions;) {
    partition = next;
    state = BigInt.asUintN(64, state * MULTIPLIER + 1n);
    next = Math.floor((partition + 1) * (2 ** 31 / (Number(state >> 33n) + 1)));
  }
  return partition;
}

/** The first partition with the smallest load. */
export const leastLoaded = (loads: readonly number[]): number =>
  loads.reduce((best, load, partition) => (load < (loads[best] ?? Infinity) ? partition : best), 0);

/** The partition of a target, and its load in any unit. */
export interface TargetLoad {
  readonly partition: number;
  readonly load: number;
  /** Whether the target must stay in its partition. */
  readonly isPinned?: boolean;
}

/** The load of each partition. */
export function loadsOf(targets: readonly TargetLoad[], partitions: number): number[] {
  const loads = Array.from({ length: partitions }, () => 0);
  for (const { partition, load } of targets) loads[partition] = (loads[partition] ?? 0) + load;
  return loads;
}

interface Move {
  /** Index of the target. */
  readonly target: number;
  readonly to: number;
}

/**
 * The smallest difference that causes a move, as a share of the larger load. Without a minimum, targets would keep
 * moving.
 */
const MIN_DIFFERENCE = 0.2;

/**
 * Plans moves that balance the loads, the most useful first. Each move takes a target from the fullest partition that
 * has a suitable target to the emptiest partition. Of the suitable targets, it takes the one that makes the two loads
 * most equal.
 * @param most the maximum number of moves
 * @param least a partition with a lower load keeps its targets
 */
export function planMoves(
  targets: readonly TargetLoad[],
  partitions: number,
  most: number,
  least: number,
): readonly Move[] {
  const now = targets.map((each) => ({ ...each }));
  const loads = loadsOf(now, partitions);
  const moves: Move[] = [];
  while (moves.length < most) {
    const to = leastLoaded(loads);
    const [best] = now
      .map((target, index) => {
        const full = loads[target.partition] ?? 0;
        const gap = full - (loads[to] ?? 0);
        /** The difference between the two loads after the move. */
        const left = Math.abs(gap - 2 * target.load);
        return { target, index, full, gap, left };
      })
      .filter(
        ({ target, full, gap, left }) =>
          full >= least &&
          gap > full * MIN_DIFFERENCE &&
          target.load > 0 &&
          target.isPinned !== true &&
          left < gap * (1 - MIN_DIFFERENCE),
      )
      .sort(
        (a, b) => b.full - a.full || a.target.partition - b.target.partition || a.left - b.left,
      );
    if (best === undefined) break;
    const { target, index } = best;
    loads[target.partition] = best.full - target.load;
    loads[to] = (loads[to] ?? 0) + target.load;
    target.partition = to;
    moves.push({ target: index, to });
  }
  return moves;
}
