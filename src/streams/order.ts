// What a target in its partition is told from outside.
import type { ObservedContent } from '../exposition/rows/observed.js';

/** Asks for the text; the answer carries the same number. */
export interface Demand {
  readonly kind: 'demand';
  readonly id: number;
}

/** What a target takes along when another partition or another definition takes over. Plain data. */
export interface Handover {
  /** Milliseconds since the last render; undefined when there was none. */
  readonly sinceRenderMs: number | undefined;
  /** Whether a render was deferred to the end of the spacing. */
  readonly owesRender: boolean;
  /** Which generation of which source the observations are of. */
  readonly generation: string;
  /** The publisher's wake-up that was taken in last. */
  readonly tick: number | undefined;
  readonly observed: readonly ObservedContent[];
}

/** Takes over from the target that answered until now. */
export interface Adopt {
  readonly kind: 'adopt';
  readonly handover: Handover;
}

/** Asks for the handover. What comes later is for the successor. */
export interface Leave {
  readonly kind: 'leave';
}

export type Order = Demand | Adopt | Leave;
