// What a target in its partition is told from outside. Plain data: it crosses threads.
import type { ObservedContent } from '../exposition/rows/observed.js';

/** Take in what is there now and, if that changes the text and it may, render it. */
export interface Refresh {
  readonly kind: 'refresh';
  readonly mayRender: boolean;
}

/** Stop observing, and report what was observed. What comes later is for the successor. */
export interface Leave {
  readonly kind: 'leave';
}

/** Observe from now on, and go on from what a predecessor observed. */
export interface TakeOver {
  readonly kind: 'take-over';
  readonly observations: Observations;
}

/** Each `refresh` and each `leave` is answered by one report; only one of them is open at a time. */
export type Command = Refresh | Leave | TakeOver;

/** What a target observed in one partition, for the next. */
export interface Observations {
  /** Which generation of which source they are of. */
  readonly generation: string;
  /** The publisher's wake-up that was taken in last. */
  readonly tick: number | undefined;
  readonly observed: readonly ObservedContent[];
}

export const NO_OBSERVATIONS: Observations = { generation: '', tick: undefined, observed: [] };
