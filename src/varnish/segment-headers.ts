// The headers of the segments of an instance, which say whether each is shown.
import type { SegmentDirectory } from './segment-directory.js';
import type { SegmentHeader } from './segment-header.js';
import type { IndexEntry } from './segment-index.js';

/** Headers that are read again in one look; of more segments, the others have their turn in the next. */
const READS_A_LOOK = 512;

export class SegmentHeaders {
  readonly #known = new WeakMap<IndexEntry, SegmentHeader>();
  #from = 0;
  #position = 0;

  /** A look begins: the headers are asked for in the same order each time. */
  begin(): void {
    this.#from = this.#from + READS_A_LOOK >= this.#position ? 0 : this.#from + READS_A_LOOK;
    this.#position = 0;
  }

  /** As it is, or was lately; undefined for a segment that its file does not hold. @throws Fault or Error */
  of(directory: SegmentDirectory, entry: IndexEntry): SegmentHeader | undefined {
    const at = this.#position++;
    const isDue = at >= this.#from && at < this.#from + READS_A_LOOK;
    const known = this.#known.get(entry);
    if (known !== undefined && !isDue) return known;
    const header = directory.headerAt(entry);
    if (header === undefined) this.#known.delete(entry);
    else this.#known.set(entry, header);
    return header;
  }
}
