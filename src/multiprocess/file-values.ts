// The values of one file: follows them while a process writes them.
import { crc32 } from 'node:zlib';
import { Fault } from '../errors.js';
import { FoldedNumber } from './folded-number.js';
import type { FileName } from './file-name.js';
import type { KeyTable, SharedKey } from './key-table.js';
import { isCounted } from './merged-metrics.js';
import type { InputFile, Limits, MergedMetrics } from './merged-metrics.js';
import type { SeriesNumber } from './merged-series.js';
import { HEADER_BYTES, checkUsed, corrupt, readingChain, usedIn } from './metric-file.js';
import type { Stride } from './metric-file.js';

/** A file that can be read. */
export interface ReadableFile {
  readonly size: number;
  /** Copies bytes, starting at `position`. Returns the number of copied bytes. */
  read(into: Uint8Array, position: number): number;
}

/** The first bytes that are read of a file, and the bytes that are read beyond the last used one. */
const FIRST_BYTES = 4096;
const SPARE_BYTES = 256;

/** A yield comes after this many bytes that are copied or checked, or values that are compared or folded. */
const PIECE_BYTES = 2 ** 18;
const PIECE_VALUES = 4096;
/** The budget steps for these. */
const PIECE_STEPS = 16;
/** A yield comes after this many entries that are added or removed. Each takes a budget step. */
const PIECE_ENTRIES = 8;
/** A larger buffer is dropped after a round. */
const KEPT_BYTES = 2 ** 20;

/** Empty arrays. All files share them, since a directory may have thousands of files. */
const NO_VALUES = new Float64Array();
const NO_POSITIONS = new Int32Array();

/** A buffer that the reads of all files share. */
export class ReadBuffer {
  bytes = Buffer.from(new ArrayBuffer(65_536));
  doubles = new Float64Array(this.bytes.buffer);

  /** Frees a large buffer. */
  shrink(): void {
    if (this.bytes.length > KEPT_BYTES) this.#replace(new ArrayBuffer(65_536));
  }

  /** Makes room for a number of bytes; keeps the first `kept` bytes. */
  grow(bytes: number, kept = 0): void {
    if (bytes <= this.bytes.length) return;
    const last = this.bytes;
    this.#replace(new ArrayBuffer(2 ** Math.ceil(Math.log2(bytes))));
    last.copy(this.bytes, 0, 0, kept);
  }

  #replace(buffer: ArrayBuffer): void {
    this.bytes = Buffer.from(buffer);
    this.doubles = new Float64Array(buffer);
  }
}

export interface FileContext {
  readonly metrics: MergedMetrics;
  readonly keys: KeyTable;
  readonly buffer: ReadBuffer;
  readonly limits: Limits;
  /** Whether the counts of a file that was removed stay in the sums. */
  readonly keepsRemoved: boolean;
}

export class MetricValues implements InputFile {
  readonly name: FileName;
  #values = NO_VALUES;
  /** The Unix times of the values; undefined if the file has none. */
  #times: Float64Array | undefined;
  readonly #context: FileContext;
  #used = HEADER_BYTES;
  #stride: Stride | undefined;
  /** The positions of the values. */
  #positions = NO_POSITIONS;
  /** The CRC-32 of the bytes between the header and `#used`, with zeros in place of values and times. */
  #keysCrc = 0;
  /** The keys of the entries; undefined for one that is too long. */
  readonly #keys: (SharedKey | undefined)[] = [];
  /** The numbers to which the entries belong; undefined for an entry that is left out. */
  readonly #numbers: (SeriesNumber | undefined)[] = [];
  #leftOut = 0;
  #refusal = '';
  #hasHeader = false;

  constructor(name: FileName, context: FileContext) {
    this.name = name;
    this.#context = context;
  }

  /** The number of used bytes. */
  get bytes(): number {
    return this.#used;
  }

  /** Whether the last read found a header. A process makes an empty file, and then lets it grow. */
  get hasHeader(): boolean {
    return this.#hasHeader;
  }

  /** The number of entries that are left out. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Why the first of these entries is left out. */
  get refusal(): string {
    return this.#refusal;
  }

  /**
   * Reads the values and the new entries. Returns whether anything changed. A step returns the work that it did. Until
   * the last step, no other file may be read into the shared buffer.
   * @throws Fault SEGMENT_CORRUPT for content that no library writes. Then no entry is added; the known ones stay unless
   * the file was overwritten
   */
  *reading(file: ReadableFile): Generator<number, boolean> {
    let used = yield* this.#copying(file);
    const isShorter = used < this.#used;
    const hasChanged = !isShorter && (yield* this.#comparing());
    const isOverwritten =
      isShorter || (yield* this.#computingCrc(HEADER_BYTES, this.#used)) !== this.#keysCrc;
    if (isOverwritten) {
      yield* this.#restarting();
      // The comparison has cleared values in the buffer that belong to the new content.
      used = yield* this.#copying(file);
    }
    const hasGrown = used > this.#used;
    if (hasGrown) yield* this.#adding(used);
    return isOverwritten || hasChanged || hasGrown;
  }

  /** Removes the entries from the sums, in steps. @param isKept whether the counts stay in them */
  *removing(isKept = this.#context.keepsRemoved): Generator<number, void> {
    const { keys, metrics } = this.#context;
    const stay = isKept && isCounted(this.name.kind);
    for (const [index, number] of this.#numbers.entries()) {
      if (index % PIECE_ENTRIES === PIECE_ENTRIES - 1) yield PIECE_ENTRIES;
      const key = this.#keys[index];
      if (key !== undefined) keys.remove(key);
      if (number === undefined) continue;
      metrics.remove(number, this.#values[index] ?? NaN, stay);
    }
    this.#context.limits.entries += this.#keys.length;
    this.#numbers.length = this.#keys.length = 0;
    this.#leftOut = 0;
    this.#refusal = '';
  }

  *folding(): Generator<number, void> {
    const values = this.#values;
    const times = this.#times;
    const numbers = this.#numbers;
    for (let index = 0; index < numbers.length; index++) {
      if (index % PIECE_VALUES === PIECE_VALUES - 1) yield PIECE_STEPS;
      const number = numbers[index];
      if (number?.isChanged === true) number.foldIn(values[index] ?? NaN, times?.[index] ?? 0);
    }
    yield ((numbers.length % PIECE_VALUES) * PIECE_STEPS) / PIECE_VALUES;
  }

  /** Copies the used bytes into the shared buffer. Returns their number. */
  *#copying(file: ReadableFile): Generator<number, number> {
    const { buffer } = this.#context;
    const wanted = Math.max(FIRST_BYTES, this.#used + SPARE_BYTES);
    const first = yield* this.#filling(file, 0, wanted);
    this.#hasHeader = first > 0;
    if (first === 0 && this.#used === HEADER_BYTES) return HEADER_BYTES;
    if (first < HEADER_BYTES) throw corrupt(`has ${first} bytes, too few for a header`);
    const used = usedIn(buffer.bytes);
    if (used <= first) {
      checkUsed(used, first);
      return Math.max(used, HEADER_BYTES);
    }
    checkUsed(used, file.size);
    if ((yield* this.#filling(file, first, used)) < used)
      throw corrupt('was truncated while the exporter read it');
    return used;
  }

  /** Copies the bytes of a file between two positions. Returns the position after the last copied byte. */
  *#filling(file: ReadableFile, from: number, to: number): Generator<number, number> {
    const { buffer } = this.#context;
    buffer.grow(to, from);
    for (let at = from; at < to;) {
      const copied = file.read(buffer.bytes.subarray(at, Math.min(to, at + PIECE_BYTES)), at);
      if (copied === 0) return at;
      at += copied;
      if (at < to) yield PIECE_STEPS;
    }
    return to;
  }

  /**
   * Starts over with a file whose keys have changed: it was overwritten, since no library changes keys. The old values
   * do not stay in the sums, since the new content may include them.
   */
  *#restarting(): Generator<number, void> {
    yield* this.removing(false);
    this.#values = NO_VALUES;
    this.#times = undefined;
    this.#positions = NO_POSITIONS;
    this.#used = HEADER_BYTES;
    this.#stride = undefined;
    this.#keysCrc = 0;
  }

  /** Takes the values of the known entries from the buffer, and clears them there. Returns whether one has changed. */
  *#comparing(): Generator<number, boolean> {
    let hasChanged = false;
    const values = this.#values;
    const times = this.#times;
    const positions = this.#positions;
    const { doubles } = this.#context.buffer;
    for (let index = 0; index < positions.length; index++) {
      if (index % PIECE_VALUES === PIECE_VALUES - 1) yield PIECE_STEPS;
      const at = (positions[index] ?? 0) >>> 3;
      const value = doubles[at] ?? 0;
      const time = times === undefined ? 0 : (doubles[at + 1] ?? 0);
      this.#clear(at);
      if (value === values[index] && (times === undefined || time === times[index])) continue;
      values[index] = value;
      if (times !== undefined) times[index] = time;
      hasChanged = true;
      const number = this.#numbers[index];
      if (number === undefined || number.isChanged) continue;
      number.isChanged = true;
      this.#context.metrics.change(number.owner);
    }
    return hasChanged;
  }

  /** Adds the entries that follow the known ones in the buffer. */
  *#adding(used: number): Generator<number, void> {
    const { buffer, keys, metrics } = this.#context;
    const bytes = buffer.bytes.subarray(0, used);
    const { stride, entries } = yield* readingChain(bytes, this.#used, this.#stride);
    if (entries.length > this.#context.limits.entries)
      throw new Fault('NATIVE_FAILED', 'would exceed the number of entries that a target may have');
    const known = this.#values.length;
    const start = this.#used;
    const hasTimes = stride === 16 && this.name.kind.endsWith('mostrecent');
    this.#values = enlarged(this.#values, known + entries.length);
    if (hasTimes) this.#times = enlarged(this.#times ?? NO_VALUES, known + entries.length);
    const positions = new Int32Array(known + entries.length);
    positions.set(this.#positions);
    this.#positions = positions;
    this.#stride = entries.length === 0 ? this.#stride : stride;
    this.#used = used;
    const ownNumbers = new Set(this.#numbers);
    for (const [order, { keyStart, keyEnd, valueAt }] of entries.entries()) {
      const index = known + order;
      if (order % PIECE_ENTRIES === PIECE_ENTRIES - 1) yield PIECE_ENTRIES;
      const at = valueAt >>> 3;
      positions[index] = valueAt;
      this.#values[index] = buffer.doubles[at] ?? 0;
      if (this.#times !== undefined) this.#times[index] = buffer.doubles[at + 1] ?? 0;
      this.#clear(at);
      const key = keys.add(bytes, keyStart, keyEnd);
      this.#keys.push(typeof key === 'string' ? undefined : key);
      this.#context.limits.entries--;
      const number = typeof key === 'string' ? key : metrics.numberOf(this.name, key);
      const isInput = number instanceof FoldedNumber && !ownNumbers.has(number);
      this.#numbers.push(isInput ? number : undefined);
      if (isInput) {
        ownNumbers.add(number);
        metrics.add(number);
      }
      if (isInput || number === undefined) continue;
      if (this.#leftOut++ === 0) {
        const reason = typeof number === 'string' ? number : 'repeats a series of its file';
        this.#refusal = `key ${shown(bytes, keyStart, keyEnd)} ${reason}`;
      }
    }
    yield entries.length % PIECE_ENTRIES;
    this.#keysCrc = yield* this.#computingCrc(start, used, this.#keysCrc);
  }

  /** Clears the value and the time of an entry in the buffer. @param at the index of the value in `doubles` */
  #clear(at: number): void {
    const { doubles } = this.#context.buffer;
    doubles[at] = 0;
    if (this.#stride === 16) doubles[at + 1] = 0;
  }

  /**
   * Computes the CRC-32 of the bytes between two positions of the buffer, whose values have been cleared: of the keys and
   * their lengths. If it changes, the values belong to other keys.
   * @param crc the CRC-32 of the bytes before `start`
   */
  *#computingCrc(start: number, end: number, crc = 0): Generator<number, number> {
    const { bytes } = this.#context.buffer;
    for (let at = start; at < end; at += PIECE_BYTES) {
      if (at > start) yield PIECE_STEPS;
      crc = crc32(bytes.subarray(at, Math.min(end, at + PIECE_BYTES)), crc);
    }
    return crc;
  }
}

function enlarged(array: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(length);
  larger.set(array);
  return larger;
}

/** The maximum number of characters of a key in a message. */
const MAX_SHOWN = 128;

const shown = (bytes: Buffer, start: number, end: number): string =>
  JSON.stringify(bytes.toString('latin1', start, Math.min(end, start + MAX_SHOWN))).slice(1, -1);
