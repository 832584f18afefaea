// What a partition reports of a target: one stream of plain messages.
import type { Snapshot, TargetEvent } from '../model.js';
import type { Counted, TargetFacts } from './target-facts.js';

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
