// The messages between a served target and its partition. They are plain data, since they cross threads.
import type { Counts } from '../exposition/counters.js';
import type { Omissions } from '../exposition/target-limits.js';
import type { HighlightedValue } from '../exposition/read/highlight.js';
import type { Durations } from '../exposition/sample-window.js';
import type {
  FamilySize,
  PublisherProcess,
  Snapshot,
  SyncProgress,
  TargetEvent,
  Verdict,
} from '../model.js';
import { NOT_POLLED } from './poller.js';
import type { PollResult } from './poller.js';
import type { TaskTimes } from './scheduler.js';

/** The number of notifications that a publisher has made. */
export interface Notifications {
  /** Unique for each segment. */
  readonly generation: string;
  readonly count: number;
}

/** The present state of a target in its partition. */
export interface TargetState {
  /** The server key of the chosen root, or the first configured key if no root is chosen. */
  readonly serverKey: string;
  /** The id of the chosen root; undefined if none is chosen. */
  readonly root: string | undefined;
  /** Whether a root was chosen since the hosting started, and none is chosen now. */
  readonly isRootLost: boolean;
  /** Whether the first sync of the root is complete, and its publisher's values may be served. */
  readonly isReady: boolean;
  readonly publisher: Verdict;
  /** The publisher's process, if the format states it. */
  readonly process?: PublisherProcess | undefined;
  readonly progress: SyncProgress;
  /** The notifications of the root's publisher; undefined without a root, and in formats without notifications. */
  readonly notifications: Notifications | undefined;
  /** Undefined without a root. */
  readonly view:
    | {
        readonly series: number;
        readonly largestFamilies: readonly FamilySize[];
        /** The time (Unix ns) that the publisher states for the root's values, if it states one. */
        readonly asOfNs: bigint | undefined;
        readonly drops: PollResult['drops'];
        readonly missing: Omissions;
        /** See `CatalogueCoverage`. */
        readonly rowsWithoutVariable: number;
        readonly variablesWithoutRow: number;
        readonly filtersUnmatched: number;
        readonly rowsOfWrongType: number;
        /** See `TargetLabels.renamed`. */
        readonly renamedLabels: number | undefined;
      }
    | undefined;
  /** The highlighted variable, if the target has one with a value. */
  readonly highlighted: HighlightedValue | undefined;
  /** The partition's busy time divided by its idle time, and the waits of its tasks. */
  readonly queue: { readonly busyIdleRatio: number; readonly waits: Durations };
}

/** The progress before the first record is read. */
export const NO_PROGRESS: Omit<SyncProgress, 'reason'> = {
  objects: { synced: 0, total: 0 },
  variables: { synced: 0, total: 0 },
};
const NO_DURATIONS: Durations = { count: 0, sum: 0, mean: 0, p50: 0, p95: 0, p99: 0 };

/** The state of a target that has not reported yet. */
export const unknownState = (serverKey: string): TargetState => ({
  serverKey,
  root: undefined,
  isRootLost: false,
  isReady: false,
  progress: { ...NO_PROGRESS, reason: 'its worker partition, which is starting' },
  publisher: NOT_POLLED,
  notifications: undefined,
  view: undefined,
  highlighted: undefined,
  queue: { busyIdleRatio: 0, waits: NO_DURATIONS },
});

/** The counts of a hosting since its last report. */
interface Counted {
  /** The times of each task. */
  readonly tasks: readonly TaskTimes[];
  readonly counts: Counts;
}

/** The answer to a refresh. */
export interface RefreshReport extends Counted {
  readonly kind: 'refreshed';
  readonly state: TargetState;
  readonly hasRendered: boolean;
  /** Whether a render now would produce a different text. */
  readonly isDirty: boolean;
  /**
   * The last text. Its bytes stay valid while the report is emitted, and after that while the snapshot is held.
   * Undefined while the target is not ready, and before its first render in this partition.
   */
  readonly snapshot: Snapshot | undefined;
}

/** A message to a served target: from its partition, or from the handover between two partitions. */
export type Report =
  /** Root, readiness or publisher changed, or a second has passed. */
  | ({ readonly kind: 'state'; readonly state: TargetState } & Counted)
  | RefreshReport
  /**
   * The publisher has notified of a change. Reported only if the minimum render interval is 0: then each change is
   * rendered.
   */
  | { readonly kind: 'changed' }
  | { readonly kind: 'event'; readonly event: TargetEvent }
  /** The partition has failed; the target starts there again after `PARTITION_RETRY_MS`. */
  | { readonly kind: 'failed'; readonly reason: string; readonly state: TargetState }
  /** Another hosting serves from now on. */
  | { readonly kind: 'switched'; readonly state: TargetState }
  /** The counts of a standby, without counts that the serving hosting has already reported. */
  | ({ readonly kind: 'standby' } & Counted);
