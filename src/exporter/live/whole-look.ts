// Looks at a server key until all that its publisher shows is taken in.
import type { Sighting, Watch } from '../../streams/watch.js';

/** A directory of the largest size takes fewer slices; one that never rests takes no more. */
const MAX_LOOKS = 4096;
const MAX_RESTLESS_LOOKS = 100;

/** The last sighting; with `hasMore` where the directory could not be read to its end. */
export function wholeLook(watch: Watch): Sighting {
  let seen = watch.look();
  let restless = 0;
  for (let looks = 1; seen.hasMore && looks < MAX_LOOKS; looks++) {
    if (seen.isRestless === true && ++restless >= MAX_RESTLESS_LOOKS) break;
    seen = watch.look();
  }
  return seen;
}
