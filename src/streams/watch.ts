// The interface of a format: a watch polls one server key.
import type { PublisherProcess, Source, StructureChange, Verdict } from '../model.js';

/** The state of a server key at a poll. */
export interface PollResult {
  readonly serverKey: string;
  readonly publisher: Verdict;
  /** Sentences that each target logs once; each stays the same while it holds. */
  readonly warnings?: readonly string[];
  /** The publisher's process, if the format states it. */
  readonly process?: PublisherProcess;
  /** The open source, while its values may be served; a new object for each generation. */
  readonly source: Source | undefined;
  /** The additions to and removals from the source since the last poll. */
  readonly changes: readonly StructureChange[];
  /** True while more changes are to be read: poll again soon. */
  readonly hasMore: boolean;
  /** True while memory of removed items is being freed: poll again soon. */
  readonly isReclaiming?: boolean | undefined;
  /** True when the structure changed faster than it could be copied: poll again, but not at once. */
  readonly isUnstable?: boolean | undefined;
  /** The number of wake-ups so far; a higher one means that the publisher has changed something. */
  readonly tick: number;
  /** The items that the publisher had no room for. */
  readonly drops: { readonly objects: number; readonly variables: number };
}

/** Starts the watch of a server key. */
export type WatchFactory = (serverKey: string) => Watch;

/** A name that is watched, and the names that exist. */
export interface Existing {
  readonly name: string;
  readonly names: readonly string[];
}

/** Polls one server key, whatever the format behind it. */
export interface Watch {
  /** One poll of bounded work; never throws. */
  poll(): PollResult;
  /** Calls `moved` once when the tick changes, if the format can tell; returns a function that ends the wait. */
  wait(tick: number, moved: () => void): () => void;
  /** The names that could be watched, if the format can tell: for messages about a server key without a segment. */
  existing?(): Existing;
  close(): void;
}

/** The verdict before the first poll. */
export const NOT_POLLED: Verdict = {
  state: 'absent',
  reason: 'its segment has not been looked for yet',
};

/** The drops of a publisher that had room for all. */
export const NO_DROPS: PollResult['drops'] = { objects: 0, variables: 0 };

/** A poll result without a source. */
export const nothingSeen = (serverKey: string, publisher: Verdict): PollResult => ({
  serverKey,
  publisher,
  source: undefined,
  changes: [],
  hasMore: false,
  tick: 0,
  drops: NO_DROPS,
});
