// The interface of a format: a poller polls one server key.
import type { PublisherProcess, Source, StructureChange, Verdict } from '../model.js';

/** The state of a server key at a poll. */
export interface PollResult {
  readonly serverKey: string;
  readonly publisher: Verdict;
  /** Warnings. Each target logs a text once, so the text of a persistent warning must not change between polls. */
  readonly warnings?: readonly string[];
  /** Texts about faults that have ended, such as a worker that sends heartbeats again. Logged once, as info. */
  readonly notices?: readonly string[];
  /** The publisher's process, if the format states it. */
  readonly process?: PublisherProcess;
  /** The open source: a new object for each generation. Present only while its values may be served. */
  readonly source: Source | undefined;
  /** The objects and variables that were added or removed since the last poll. */
  readonly changes: readonly StructureChange[];
  /** True while the poller has something left to read, such as records of the directory: poll again soon. */
  readonly hasMore: boolean;
  /** True while memory of removed items is being freed: poll again soon. */
  readonly isReclaiming?: boolean | undefined;
  /** True when the structure changed faster than it could be copied: poll again, but not at once. */
  readonly isUnstable?: boolean | undefined;
  /**
   * The number of the publisher's notifications, or of other wake-ups in a format without notifications. If the number
   * differs from the last one, values or structure may have changed.
   */
  readonly notifications: number;
  /** The numbers of objects and variables that exceeded the capacity of the segment. */
  readonly drops: { readonly objects: number; readonly variables: number };
}

/** Makes the poller of a server key. */
export type PollerFactory = (serverKey: string) => Poller;

/** The polled name, and the names that exist. */
export interface AvailableNames {
  readonly name: string;
  readonly names: readonly string[];
}

/** Polls one server key, in any format. */
export interface Poller {
  /**
   * Polls once; never throws. The exporter polls before each scrape and once a second. Without a source, scrapes get 503
   * with the reason of the verdict.
   *
   * * Bound each long loop by a `Budget`; `hasMore` requests another poll.
   * * Read the header of a mapped file at each poll: stores through a mapping do not change its modification time.
   * * If the open file has 0 names, a rename has replaced it: open the new file.
   * * `CachedRead` of `foreign/directory-listing.ts` reads a directory only after a change; with `DirectoryWatch`,
   *   `wait` reports new names at once.
   *
   * @param isDemanded whether the result is for a page; true by default. A poller whose polls read values need not read
   *   them in other polls
   */
  poll(isDemanded?: boolean): PollResult;
  /**
   * If the format has notifications, calls `onChange` once when `notifications` changes. Returns a function that ends
   * the wait.
   */
  wait(notifications: number, onChange: () => void): () => void;
  /** The names that exist, if the format can list them: for messages about a server key without a segment. */
  availableNames?(): AvailableNames;
  /**
   * Opens the last values of a publisher that is not served any more, if the format keeps them; undefined if there are
   * none. May throw a Fault or the error of a system call.
   */
  openLast?(): LastValues | undefined;
  close(): void;
}

/** The last values of a publisher that died or hangs. */
export interface LastValues {
  readonly source: Source;
  /** Reads a part of the tree, within a work budget. Returns whether more follows. */
  readMore(): boolean;
  /** Seconds since the last heartbeat; undefined if it is unknown. */
  readonly ageSeconds: number | undefined;
  close(): void;
}

/** A target that a finder has found. */
export interface FoundTarget {
  readonly app: string;
  readonly serverKey: string;
  /** The id of its root; empty if the target accepts any root of the application. */
  readonly instance: string;
  /** Identifies the file of the publisher: a text that changes when another publisher takes over the server key. */
  readonly file: string;
}

export interface Found {
  readonly targets: readonly FoundTarget[];
  /** The reasons why publishers were left out, one sentence each. */
  readonly leftOut: readonly string[];
}

/** Finds the targets of one format on this host, for `[discover]`. */
export interface Finder {
  /**
   * Finds all targets that exist now, in short steps; never throws.
   * @param forgotten the server keys whose publishers have ended. They come last if there are too many targets
   */
  find(forgotten: ReadonlySet<string>): Iterator<void, Found>;
  close(): void;
}

/** Makes a finder that finds all targets in one step. */
export const immediateFinder = (targets: () => readonly FoundTarget[]): Finder => ({
  find: () => ({ next: () => ({ done: true, value: { targets: targets(), leftOut: [] } }) }),
  close: () => undefined,
});

/** The verdict before the first poll. */
export const NOT_POLLED: Verdict = {
  state: 'absent',
  reason: 'its segment has not been polled yet',
};

/** The drops of a publisher that has dropped nothing. */
export const NO_DROPS: PollResult['drops'] = { objects: 0, variables: 0 };

/** A poll result without a source. */
export const resultWithoutSource = (serverKey: string, publisher: Verdict): PollResult => ({
  serverKey,
  publisher,
  source: undefined,
  changes: [],
  hasMore: false,
  notifications: 0,
  drops: NO_DROPS,
});
