// The values of one file: follows them while a process writes them.
import { Fault } from '../errors.js';
import { FoldedNumber } from './folded-number.js';
import type { FileValues } from './folded-number.js';
import type { FileName } from './file-name.js';
import type { KeyTable, SharedKey } from './key-table.js';
import { isCounted } from './merged-metrics.js';
import type { Limits, MergedMetrics } from './merged-metrics.js';
import type { SeriesNumber } from './merged-series.js';
import { HEADER_BYTES, checkUsed, corrupt, readChain, usedIn } from './metric-file.js';
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

/** A buffer that the reads of all files share. */
export class ReadBuffer {
  bytes = Buffer.from(new ArrayBuffer(65_536));
  doubles = new Float64Array(this.bytes.buffer);
  words = new Int32Array(this.bytes.buffer);

  /** Makes room for a number of bytes; keeps the first `kept` bytes. */
  grow(bytes: number, kept = 0): void {
    if (bytes <= this.bytes.length) return;
    const larger = Buffer.from(new ArrayBuffer(2 ** Math.ceil(Math.log2(bytes))));
    this.bytes.copy(larger, 0, 0, kept);
    this.bytes = larger;
    this.doubles = new Float64Array(larger.buffer);
    this.words = new Int32Array(larger.buffer);
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

export class MetricValues implements FileValues {
  readonly name: FileName;
  values = new Float64Array();
  times: Float64Array | undefined;
  readonly #context: FileContext;
  #used = HEADER_BYTES;
  #stride: Stride | undefined;
  /** The positions of the values. */
  #positions = new Int32Array();
  /** A hash of all bytes before `#used` except values and times. */
  #fingerprint = 0;
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

  /** The number of entries. */
  get size(): number {
    return this.#numbers.length;
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
   * Reads the values and the new entries. Returns whether anything changed.
   * @throws Fault SEGMENT_CORRUPT for content that no library writes. Then the last values stay
   */
  read(file: ReadableFile): boolean {
    const used = this.#copy(file);
    const isOther =
      used < this.#used || this.#fingerprintOf(this.values.length) !== this.#fingerprint;
    if (isOther) this.#restart();
    const hasChanged = this.#compare();
    const hasGrown = used > this.#used;
    if (hasGrown) this.#add(used);
    return isOther || hasChanged || hasGrown;
  }

  /** Removes the entries from the sums. @param isKept whether the counts stay in them */
  remove(isKept = this.#context.keepsRemoved): void {
    const { keys, metrics } = this.#context;
    const stay = isKept && isCounted(this.name.kind);
    for (const [index, number] of this.#numbers.entries()) {
      const key = this.#keys[index];
      if (key !== undefined) keys.remove(key);
      if (number === undefined) continue;
      metrics.remove(number, this, index, stay);
    }
    this.#context.limits.entries += this.#keys.length;
    this.#numbers.length = this.#keys.length = 0;
    this.#leftOut = 0;
    this.#refusal = '';
  }

  /** Copies the used bytes into the shared buffer. Returns their number. */
  #copy(file: ReadableFile): number {
    const { buffer } = this.#context;
    const wanted = Math.max(FIRST_BYTES, this.#used + SPARE_BYTES);
    buffer.grow(wanted);
    const first = file.read(buffer.bytes.subarray(0, wanted), 0);
    this.#hasHeader = first > 0;
    if (first === 0 && this.#used === HEADER_BYTES) return HEADER_BYTES;
    if (first < HEADER_BYTES) throw corrupt(`has ${first} bytes, too few for a header`);
    const used = usedIn(buffer.bytes);
    if (used <= first) {
      checkUsed(used, first);
      return Math.max(used, HEADER_BYTES);
    }
    checkUsed(used, file.size);
    buffer.grow(used, first);
    const rest = file.read(buffer.bytes.subarray(first, used), first);
    if (first + rest < used) throw corrupt('was truncated while the exporter read it');
    return used;
  }

  /**
   * The file has other keys than before, which no library does: it was overwritten. The values before do not stay, since
   * the new content may include them.
   */
  #restart(): void {
    this.remove(false);
    this.values = new Float64Array();
    this.times = undefined;
    this.#positions = new Int32Array();
    this.#used = HEADER_BYTES;
    this.#stride = undefined;
    this.#fingerprint = 0;
  }

  /** Takes the values of the known entries from the buffer. Returns whether one has changed. */
  #compare(): boolean {
    let hasChanged = false;
    const { values, times } = this;
    const positions = this.#positions;
    const { doubles } = this.#context.buffer;
    for (let index = 0; index < positions.length; index++) {
      const at = (positions[index] ?? 0) >>> 3;
      const value = doubles[at] ?? 0;
      const time = times === undefined ? 0 : (doubles[at + 1] ?? 0);
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
  #add(used: number): void {
    const { buffer, keys, metrics } = this.#context;
    const bytes = buffer.bytes.subarray(0, used);
    const { stride, entries } = readChain(bytes, this.#used, this.#stride);
    if (entries.length > this.#context.limits.entries)
      throw new Fault('NATIVE_FAILED', 'would exceed the number of entries that a target may have');
    const known = this.values.length;
    const hasTimes = stride === 16 && this.name.kind.endsWith('mostrecent');
    this.values = enlarged(this.values, known + entries.length);
    if (hasTimes) this.times = enlarged(this.times ?? new Float64Array(), known + entries.length);
    const positions = new Int32Array(known + entries.length);
    positions.set(this.#positions);
    this.#positions = positions;
    this.#stride = entries.length === 0 ? this.#stride : stride;
    this.#used = used;
    for (const [order, { keyStart, keyEnd, valueAt }] of entries.entries()) {
      const index = known + order;
      const at = valueAt >>> 3;
      positions[index] = valueAt;
      this.values[index] = buffer.doubles[at] ?? 0;
      if (this.times !== undefined) this.times[index] = buffer.doubles[at + 1] ?? 0;
      const key = keys.add(bytes, keyStart, keyEnd);
      this.#keys.push(typeof key === 'string' ? undefined : key);
      this.#context.limits.entries--;
      const number = typeof key === 'string' ? key : metrics.numberOf(this.name, key);
      const isInput = number instanceof FoldedNumber && metrics.add(number, this, index);
      this.#numbers.push(isInput ? number : undefined);
      if (isInput || number === undefined) continue;
      if (this.#leftOut++ === 0) {
        const reason = typeof number === 'string' ? number : 'repeats a series of its file';
        this.#refusal = `key ${shown(bytes, keyStart, keyEnd)} ${reason}`;
      }
    }
    this.#fingerprint = this.#fingerprintOf(this.values.length);
  }

  /**
   * A hash of the bytes between the values of the first entries: of their keys and lengths. If it changes, the values
   * belong to other keys.
   */
  #fingerprintOf(entries: number): number {
    const { words } = this.#context.buffer;
    const stride = (this.#stride ?? 8) >>> 2;
    const positions = this.#positions;
    let hash = 0;
    let word = HEADER_BYTES >>> 2;
    for (let index = 0; index < entries; index++) {
      const end = (positions[index] ?? 0) >>> 2;
      for (; word < end; word++) {
        hash = Math.imul(hash ^ (words[word] ?? 0), 0x9e37_79b1);
        hash ^= hash >>> 15;
      }
      word = end + stride;
    }
    return hash;
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
