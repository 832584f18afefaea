// The values of one segment, copied at each demand in one read.
import { Fault } from '../errors.js';
import { HEADER, LIMITS, READY, VALUE_BYTES } from './layout.js';
import type { Field, Schema } from './schema.js';
import type { SegmentDirectory } from './segment-directory.js';
import { headerOf } from './segment-header.js';
import type { SegmentHeader } from './segment-header.js';
import type { IndexEntry } from './segment-index.js';

/** A gauge beyond this went below zero for a moment: Varnish's own programs show 0. */
const MAX_OF_A_GAUGE = 2n ** 63n;

export class SegmentValues {
  readonly #directory: SegmentDirectory;
  readonly #entry: IndexEntry;
  readonly #header: SegmentHeader;
  readonly #bytes: Buffer;
  readonly #words: BigUint64Array;

  /**
   * @param header as it was when the segment was taken in
   * @throws Fault SEGMENT_CORRUPT for a segment that cannot hold the values of its schema
   */
  constructor(
    directory: SegmentDirectory,
    entry: IndexEntry,
    header: SegmentHeader,
    { bodyBytes }: Schema,
  ) {
    const { bodyOffset } = header;
    const bytes = bodyOffset + bodyBytes;
    if (bodyOffset < HEADER.bytes || bodyOffset % VALUE_BYTES !== 0 || !(bytes <= entry.length))
      throw new Fault('SEGMENT_CORRUPT', 'has no room for the values of its schema');
    if (bytes > LIMITS.bodyBytes) throw new Fault('SEGMENT_CORRUPT', `has ${bytes} bytes`);
    this.#directory = directory;
    this.#entry = entry;
    this.#header = header;
    this.#bytes = Buffer.from(new ArrayBuffer(bytes));
    this.#words = new BigUint64Array(this.#bytes.buffer);
  }

  /**
   * Copies the values; false if the segment is not what was taken in any more. Its place in a file may
   * have got another owner, so the index is asked after the copy: never throws.
   */
  copy(): boolean {
    try {
      if (!this.#directory.read(this.#entry, this.#bytes)) return false;
    } catch {
      return false;
    }
    const { ready, bodyOffset, schemaId } = headerOf(this.#bytes);
    return (
      ready === READY.visible &&
      bodyOffset === this.#header.bodyOffset &&
      schemaId === this.#header.schemaId &&
      this.#directory.has(this.#entry)
    );
  }

  /** A value of the last copy. */
  valueOf({ kind, at }: Field): bigint {
    const value = this.#words[(this.#header.bodyOffset + at) / VALUE_BYTES] ?? 0n;
    return kind === 'gauge' && value > MAX_OF_A_GAUGE ? 0n : value;
  }
}
