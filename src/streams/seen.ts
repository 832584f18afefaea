// A sighting as the streams know it: with a source behind the seam, whatever its format.
import type { Source } from '../model.js';
import type { Sighting } from '../native/segment-watch.js';

export interface Seen extends Omit<Sighting, 'source'> {
  readonly source: Source | undefined;
}

/** Looks at one server key, whatever the format behind it. */
export interface Watch {
  /** One bounded look; never throws. */
  look(): Seen;
  /** Calls back once when the tick moves, where something can tell; returns what ends the wait. */
  wait(tick: number, moved: () => void): () => void;
  close(): void;
}
