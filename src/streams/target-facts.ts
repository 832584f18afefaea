// The facts that a partition reports of a target. Plain data: they cross threads.
import { newCounters } from '../exposition/counters.js';
import type { Counts } from '../exposition/counters.js';
import type { Missing } from '../exposition/left-out.js';
import type { HighlightedValue } from '../exposition/read/highlight.js';
import type { Durations } from '../exposition/sample-window.js';
import type { PublisherProcess, SyncProgress, Verdict } from '../model.js';

/** What the view of a target measures. */
export interface ViewFacts {
  readonly series: number;
  /** The moment (Unix ns) that the root's values stand for, where it states one. */
  readonly asOfNs: bigint | undefined;
  readonly droppedObjects: number;
  readonly droppedVariables: number;
  readonly missing: Missing;
  /** See `CatalogueFit`. */
  readonly rowsWithoutVariable: number;
  readonly variablesWithoutRow: number;
  readonly filtersUnmatched: number;
  readonly rowsOfWrongType: number;
}

/** What was counted since the last report. */
export interface Counted {
  /** How many milliseconds each refresh took. */
  readonly refreshesMs: readonly number[];
  readonly counts: Counts;
}

export const NOTHING_COUNTED: Counted = { refreshesMs: [], counts: newCounters() };

export interface TargetFacts {
  /** The key whose root was chosen, else the first configured one. */
  readonly serverKey: string;
  /** Id of the chosen root; empty while none is. */
  readonly root: string;
  readonly isReady: boolean;
  readonly publisher: Verdict;
  /** Who published it, as far as that is known. */
  readonly process?: PublisherProcess | undefined;
  readonly progress: SyncProgress;
  /** The publisher's wake-up that was taken in last; undefined before the first. */
  readonly tick: number | undefined;
  /** Undefined while there is no root. */
  readonly view: ViewFacts | undefined;
  /** The highlighted variable, where there is one with a value. */
  readonly highlighted: HighlightedValue | undefined;
  /** Of the partition: busy time divided by idle time, and how long refreshes waited. */
  readonly queue: { readonly busyIdleRatio: number; readonly waits: Durations };
}

const NO_DURATIONS: Durations = { count: 0, sum: 0, mean: 0, p50: 0, p95: 0, p99: 0 };

/** The facts of a target that has not reported yet. */
export const unknownFacts = (serverKey: string): TargetFacts => ({
  serverKey,
  root: '',
  isReady: false,
  progress: {
    objects: { synced: 0, total: 0 },
    variables: { synced: 0, total: 0 },
    reason: 'its worker partition, which is starting',
  },
  publisher: { state: 'absent', reason: 'its segment has not been looked for yet' },
  tick: undefined,
  view: undefined,
  highlighted: undefined,
  queue: { busyIdleRatio: 0, waits: NO_DURATIONS },
});
