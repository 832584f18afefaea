// What the partition of a target knows of it at one moment. Plain data: it crosses threads.
import type { SyncProgress, Verdict } from '../model.js';
import type { HighlightedValue } from '../exposition/read/highlight.js';
import type { Durations } from '../exposition/sample-window.js';

/** What the view of a target measures. */
export interface ViewFacts {
  readonly series: number;
  /** The moment (Unix ns) that the root's values stand for, where it states one. */
  readonly asOfNs: bigint | undefined;
  readonly droppedObjects: number;
  readonly droppedVariables: number;
  /** See `CatalogueFit`. */
  readonly rowsWithoutVariable: number;
  readonly variablesWithoutRow: number;
  readonly rowsOfWrongType: number;
}

/** What of a target is known at once, however large it is. */
export interface Standing {
  /** The key whose root was chosen, else the first configured one. */
  readonly serverKey: string;
  /** Id of the chosen root; empty while none is. */
  readonly root: string;
  readonly isReady: boolean;
  readonly publisher: Verdict;
}

/** What only ever grows: it goes on through moves, new definitions and failures of partitions. */
export interface Counted {
  readonly refreshes: number;
  /** Milliseconds that they took. */
  readonly busyMs: number;
  readonly clashes: number;
  readonly omitted: number;
  readonly staleFrames: number;
}

export const NOTHING_COUNTED: Counted = {
  refreshes: 0,
  busyMs: 0,
  clashes: 0,
  omitted: 0,
  staleFrames: 0,
};

export const sumOf = (one: Counted, other: Counted): Counted => ({
  refreshes: one.refreshes + other.refreshes,
  busyMs: one.busyMs + other.busyMs,
  clashes: one.clashes + other.clashes,
  omitted: one.omitted + other.omitted,
  staleFrames: one.staleFrames + other.staleFrames,
});

export interface TargetFacts extends Standing {
  readonly progress: SyncProgress;
  /** Undefined while there is no root. */
  readonly view: ViewFacts | undefined;
  /** The highlighted variable, where there is one with a value. */
  readonly highlighted: HighlightedValue | undefined;
  readonly counted: Counted;
  /** How long its refreshes took. */
  readonly refreshes: Durations;
  /** Of the partition: busy time divided by idle time, and how long refreshes waited. */
  readonly queue: { readonly busyIdleRatio: number; readonly waits: Durations };
}

/** The standing alone: who lays it over facts must not lay more. */
export const standingOf = ({ serverKey, root, isReady, publisher }: TargetFacts): Standing => ({
  serverKey,
  root,
  isReady,
  publisher,
});
