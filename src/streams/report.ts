// What a target sends to its partition, and what it gets back: refreshes, facts, counts and texts. Plain data: they cross threads.
import { newCounters } from '../exposition/counters.js';
import type { Counts } from '../exposition/counters.js';
import type { Missing } from '../exposition/left-out.js';
import type { HighlightedValue } from '../exposition/read/highlight.js';
import type { Durations } from '../exposition/sample-window.js';
import type {
  Forms,
  PublisherProcess,
  Snapshot,
  SyncProgress,
  TargetEvent,
  Verdict,
} from '../model.js';

/** Take in the present values; render them if that changes the text and `mayRender` allows it. One report answers it. */
export interface Refresh {
  readonly kind: 'refresh';
  readonly mayRender: boolean;
  /** What a render is to make; text, if nothing is said. */
  readonly forms?: Forms;
}

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

/** The present facts, and what was counted since the last report. */
interface News {
  readonly facts: TargetFacts;
  readonly counted: Counted;
}

/** A refresh was carried out. */
export interface RefreshReport extends News {
  readonly kind: 'refreshed';
  readonly hasRendered: boolean;
  /** Whether the text would differ if it were rendered now. */
  readonly isDirty: boolean;
  /**
   * The last text. Its bytes stay until the emission returns, unless they are held. Undefined while
   * the target is not ready, and before its first render in this partition.
   */
  readonly snapshot: Snapshot | undefined;
}

export type Report =
  | RefreshReport
  /** Root, readiness or publisher changed, or a second has passed. */
  | ({ readonly kind: 'facts' } & News)
  /** The publisher announced a change; reported only with spacing 0, which renders each change. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'event'; readonly event: TargetEvent };

/** What reaches a served target, whichever hosting serves it. */
export type ServingReport =
  | Report
  /** Another hosting serves from now on. */
  | { readonly kind: 'switched'; readonly facts: TargetFacts }
  /** The partition that served has failed; the hosting starts again after a while. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** What a standby counted that is news. */
  | { readonly kind: 'standby'; readonly counted: Counted };
