// The commands that a target sends to its partition. Plain data: they cross threads.
import type { Forms } from '../model.js';
import type { ObservedContent } from '../exposition/rows/observed.js';

/** Take in the present values; render them if that changes the text and `mayRender` allows it. */
export interface Refresh {
  readonly kind: 'refresh';
  readonly mayRender: boolean;
  /** What a render is to make; text, if nothing is said. */
  readonly forms?: Forms;
}

/** Stop observing, and report what was observed. */
export interface Leave {
  readonly kind: 'leave';
}

/** Start to observe, continuing from what the last hosting observed. */
export interface TakeOver {
  readonly kind: 'take-over';
  readonly observations: Observations;
}

/** Each `refresh` and each `leave` is answered by one report; only one of them is open at a time. */
export type Command = Refresh | Leave | TakeOver;

/** What a target observed in one partition, for the next. */
export interface Observations {
  /** The generation of the source. */
  readonly generation: string;
  /** The last wake-up of the publisher that was taken in. */
  readonly tick: number | undefined;
  readonly observed: readonly ObservedContent[];
}

export const NO_OBSERVATIONS: Observations = { generation: '', tick: undefined, observed: [] };
