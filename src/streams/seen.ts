// A sighting as the streams know it: with a source behind the seam, whatever its format.
import type { Source } from '../model.js';
import type { Sighting } from '../native/segment-watch.js';

export interface Seen extends Omit<Sighting, 'source'> {
  readonly source: Source | undefined;
}
