// The index of a directory of segments, held open and read as it grows.
import { Fault } from '../errors.js';
import { CheckedFile } from '../foreign/checked-file.js';
import { LIMITS } from './layout.js';
import { SegmentIndex } from './segment-index.js';

/** Bytes that are compared to see that it is still the same text. */
const BEGIN_BYTES = 64;

export class IndexFile {
  readonly #file: CheckedFile;
  readonly #index = new SegmentIndex();
  readonly #known: SegmentIndex | undefined;
  #stamp = '';
  #bytes = 0;
  #begin: Buffer = Buffer.alloc(0);

  /**
   * Opens the index at a path, in a directory of this user.
   * @param known that of the former index of the directory, if the same process wrote it
   * @throws Fault or Error for a file that cannot be read or must not be believed
   */
  constructor(path: string, directoryUid: number, known?: SegmentIndex) {
    this.#file = new CheckedFile(path, directoryUid, LIMITS.indexBytes);
    this.#known = known;
  }

  /** What it said at the last `update`. */
  get index(): SegmentIndex {
    return this.#index;
  }

  /** Whether it was removed, or another one took its place. */
  get isReplaced(): boolean {
    return this.#file.isUnlinked;
  }

  /**
   * Takes in what was added; returns whether anything was.
   * @throws Fault SEGMENT_CORRUPT if it was changed in another way, or holds what no Varnish writes
   */
  update(): boolean {
    const { stamp } = this.#file;
    if (stamp === this.#stamp) return false;
    const { size } = this.#file;
    if (size < this.#bytes) throw new Fault('SEGMENT_CORRUPT', 'the index was cut');
    if (size > LIMITS.indexBytes) throw new Fault('SEGMENT_CORRUPT', `the index has ${size} bytes`);
    this.#checkBegin();
    const added = Buffer.alloc(size - this.#bytes);
    const bytes = added.subarray(0, this.#file.read(added, this.#bytes));
    this.#index.add(bytes, this.#known);
    if (this.#begin.length < BEGIN_BYTES)
      this.#begin = Buffer.concat([this.#begin, bytes]).subarray(0, BEGIN_BYTES);
    this.#bytes += bytes.length;
    // What came meanwhile has another stamp.
    this.#stamp = stamp;
    return bytes.length > 0;
  }

  close(): void {
    this.#file.close();
  }

  #checkBegin(): void {
    const begin = Buffer.alloc(this.#begin.length);
    const bytes = this.#file.read(begin, 0);
    if (!begin.subarray(0, bytes).equals(this.#begin))
      throw new Fault('SEGMENT_CORRUPT', 'the index was written anew in its place');
  }
}
