// Reads a server key until the whole directory of its publisher is read.
import type { Sighting, Watch } from '../../streams/watch.js';

/** The largest directory takes fewer slices; one that keeps changing gets no more. */
const MAX_LOOKS = 4096;
const MAX_RESTLESS_LOOKS = 100;

/** The last sighting; with `hasMore` if the directory could not be read to its end. */
export function wholeLook(watch: Watch): Sighting {
  let seen = watch.look();
  let restless = 0;
  for (let looks = 1; seen.hasMore && looks < MAX_LOOKS; looks++) {
    if (seen.isRestless === true && ++restless >= MAX_RESTLESS_LOOKS) break;
    seen = watch.look();
  }
  return seen;
}
