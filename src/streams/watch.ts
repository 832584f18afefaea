// The seam to formats: what one look at a place of metrics shows, and who looks.
import type { Source, StructureChange, Verdict } from '../model.js';

/** What one look at a server key shows. */
export interface Sighting {
  readonly serverKey: string;
  readonly publisher: Verdict;
  /** The open source while its publisher is served; another object for each generation. */
  readonly source: Source | undefined;
  /** What the source's structure gained and lost since the last look. */
  readonly changes: readonly StructureChange[];
  /** True while more changes wait to be taken in: look again soon. */
  readonly hasMore: boolean;
  /** True when the structure changed faster than it could be copied: look again, but not at once. */
  readonly isRestless?: boolean;
  /** Wake-ups so far; a change means that the publisher has something new. */
  readonly tick: number;
  /** What the publisher had no room for. */
  readonly drops: { readonly objects: number; readonly variables: number };
}

/** Starts to watch a server key; called once for each key that is followed. */
export type Watches = (serverKey: string) => Watch;

/** Looks at one server key, whatever the format behind it. */
export interface Watch {
  /** One bounded look; never throws. */
  look(): Sighting;
  /** Calls back once when the tick moves, where something can tell; returns what ends the wait. */
  wait(tick: number, moved: () => void): () => void;
  close(): void;
}
