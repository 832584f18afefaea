// The headers of the segments of an instance, which say whether each is shown.
import type { SegmentDirectory } from './segment-directory.js';
import type { VarnishSegmentHeader } from './segment-header.js';
import type { IndexEntry } from './segment-index.js';

/** Headers that are read again in one look; of more segments, the others have their turn in the next. */
const READS_A_LOOK = 512;

/** A header, or why it could not be read. */
type KnownSegment =
  | { readonly header: VarnishSegmentHeader | undefined; readonly error?: undefined }
  | { readonly error: Error };

export class SegmentHeaders {
  readonly #known = new WeakMap<IndexEntry, KnownSegment>();
  #from = 0;
  #position = 0;

  /** A look begins: the headers are asked for in the same order each time. */
  begin(): void {
    this.#from = this.#from + READS_A_LOOK >= this.#position ? 0 : this.#from + READS_A_LOOK;
    this.#position = 0;
  }

  /** As it is, or was lately; undefined for a segment that its file does not hold. @throws Error */
  of(directory: SegmentDirectory, entry: IndexEntry): VarnishSegmentHeader | undefined {
    const at = this.#position++;
    const isDue = at >= this.#from && at < this.#from + READS_A_LOOK;
    let known = this.#known.get(entry);
    if (known === undefined || isDue) {
      known = read(directory, entry);
      this.#known.set(entry, known);
    }
    if (known.error !== undefined) throw known.error;
    return known.header;
  }
}

function read(directory: SegmentDirectory, entry: IndexEntry): KnownSegment {
  try {
    return { header: directory.headerAt(entry) };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}
