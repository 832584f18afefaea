// What must stay as it is in a counter file: its entries without their values.
import type { PerfEntry } from './perf-entries.js';

/**
 * A JVM never changes an entry, so values read at the old offsets are those of the old names as long as
 * all entries are the same. A new JVM may begin anew in the same file at any moment.
 */
export class Skeleton {
  readonly #bytes: Int32Array;
  readonly #mask: Int32Array;

  /** @param bytes from which the entries were read, up to a multiple of 4 */
  constructor(bytes: Buffer, entries: readonly PerfEntry[]) {
    const mask = new Uint8Array(bytes.length - (bytes.length % 4));
    for (const { start, end, valueAt, valueBytes } of entries) {
      mask.fill(0xff, start, end);
      mask.fill(0, valueAt, valueAt + valueBytes);
    }
    this.#mask = new Int32Array(mask.buffer);
    this.#bytes = new Int32Array(Uint8Array.from(bytes.subarray(0, mask.length)).buffer);
  }

  /** Whether these bytes hold the same entries, at least. */
  isIn(bytes: Buffer): boolean {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    if (words.length < this.#mask.length) return false;
    for (let at = 0; at < this.#mask.length; at++)
      if ((((words[at] ?? 0) ^ (this.#bytes[at] ?? 0)) & (this.#mask[at] ?? 0)) !== 0) return false;
    return true;
  }
}
