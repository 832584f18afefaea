// The interface of a format: a watch looks at one server key, and what it sees is a poll result.
import type { PublisherProcess, Source, StructureChange, Verdict } from '../model.js';

/** What one look at a server key shows. */
export interface PollResult {
  readonly serverKey: string;
  readonly publisher: Verdict;
  /** What the log says once of each target: sentences that stay the same while they hold. */
  readonly warnings?: readonly string[];
  /** Where the format says it. */
  readonly process?: PublisherProcess;
  /** The open source, while its values may be served; a new object for each generation. */
  readonly source: Source | undefined;
  /** What the source's structure gained and lost since the last look. */
  readonly changes: readonly StructureChange[];
  /** True while more changes wait to be taken in: look again soon. */
  readonly hasMore: boolean;
  /** True while memory of what is gone is being freed: look again soon. */
  readonly isReclaiming?: boolean | undefined;
  /** True when the structure changed faster than it could be copied: look again, but not at once. */
  readonly isUnstable?: boolean | undefined;
  /** Wake-ups so far; a change means that the publisher has something new. */
  readonly tick: number;
  /** What the publisher had no room for. */
  readonly drops: { readonly objects: number; readonly variables: number };
}

/** Starts to watch a server key; called once for each key that is followed. */
export type Watches = (serverKey: string) => Watch;

/** A name that is watched, and those that exist. */
export interface Existing {
  readonly name: string;
  readonly names: readonly string[];
}

/** Looks at one server key, whatever the format behind it. */
export interface Watch {
  /** One bounded look; never throws. */
  poll(): PollResult;
  /** Calls `moved` once when the tick moves, if the format can tell; returns a function that ends the wait. */
  wait(tick: number, moved: () => void): () => void;
  /** What could be watched, where the format can tell: for somebody whose server key shows nothing. */
  existing?(): Existing;
  close(): void;
}

/** Of a publisher that had room for all. */
export const NO_DROPS: PollResult['drops'] = { objects: 0, variables: 0 };

/** A look that shows no source. */
export const nothingSeen = (serverKey: string, publisher: Verdict): PollResult => ({
  serverKey,
  publisher,
  source: undefined,
  changes: [],
  hasMore: false,
  tick: 0,
  drops: NO_DROPS,
});
