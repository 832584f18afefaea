// Appends records to the active directory. When it is full, copies the live records to the other directory, and makes
// that one active.
import { crc32 } from 'node:zlib';
import { MUTABLE, MUTABLE_OFFSET, RECORD, RECORD_KIND, RECORD_SIZE } from '../segment/layout.js';
import type { PublisherFile } from './publisher-file.js';
import type { SegmentLayout } from './segment-layout.js';

/** The record of an object or variable, with strings in place of offsets. */
export interface LiveRecord {
  readonly id: number;
  readonly owner: number;
  readonly recordKind: 1 | 2;
  readonly type: number;
  readonly kind: number;
  readonly flags: number;
  readonly slot: number;
  readonly incarnation: number;
  readonly name: string;
  readonly text1: string;
  readonly text2: string;
  /** Instance of a root, or schema of a variable as bytes. */
  readonly text3: string | Buffer;
  /** Application of a root, or offset of a variable's frame. */
  readonly text4: string | number;
  readonly extra1: number;
  readonly extra2: number;
}

/** Used bytes of an id field; the other two are 0. */
const ID_BYTES = 6;
/** Largest share of a directory that live records and strings may fill, so that a switch always frees space. */
const MAX_FILL = 0.75;

/** Time until the next attempt when /dev/shm is full. */
const RETRY_MS = 1000;

export class DirectoryWriter {
  readonly #file: PublisherFile;
  readonly #layout: SegmentLayout;
  readonly #live = new Map<number, LiveRecord>();
  readonly #word: BigUint64Array;
  /** The record under construction, and the part that its CRC covers. */
  readonly #record = Buffer.alloc(RECORD_SIZE);
  readonly #crcRange = this.#record.subarray(RECORD.index);
  #epoch = 0;
  #records = 0;
  #stringBytes = 2;
  /** The offset of each string in the active directory. The size of the string region bounds this map. */
  #offsets = new Map<string, number>();
  /** True after a switch of directories that freed too little space, until the next removal. */
  #isFull = false;
  /** Number of failed allocations. */
  #failures = 0;
  /** After a failed allocation, the time of the next attempt, by `performance.now()`. */
  #retryAtMs = 0;
  /** True after a removal that could not be published, since /dev/shm was full. The next change publishes it. */
  #hasPendingRemoval = false;

  constructor(file: PublisherFile, layout: SegmentLayout) {
    this.#file = file;
    this.#layout = layout;
    const { buffer, byteOffset } = file.bytes;
    this.#word = new BigUint64Array(buffer, byteOffset + MUTABLE_OFFSET, MUTABLE.size / 8);
    this.#storeStringBytes();
  }

  /** Adds a record and publishes it; false if there is no room, even after a switch of directories. */
  add(record: LiveRecord): boolean {
    if (this.#hasPendingRemoval) this.#hasPendingRemoval = !this.#switch(1);
    if (this.#isFull || this.#live.size + 1 > this.#layout.records * MAX_FILL) return false;
    if (this.#retryAtMs > 0 && performance.now() < this.#retryAtMs) return false;
    this.#retryAtMs = 0;
    const failures = this.#failures;
    if (!this.#append(record) && !(this.#switch(MAX_FILL) && this.#append(record))) {
      // Memory may become free later. Each attempt copies all records, so attempts are at least RETRY_MS apart.
      if (this.#failures > failures) this.#retryAtMs = performance.now() + RETRY_MS;
      else this.#isFull = true;
      return false;
    }
    this.#live.set(record.id, record);
    this.#publish();
    return true;
  }

  /** Publishes the removal of an object or variable, whose id is the first of `ids`. The others are below it. */
  remove(ids: readonly number[]): void {
    const [first] = ids;
    if (first === undefined) return;
    for (const id of ids) this.#live.delete(id);
    this.#isFull = false;
    this.#retryAtMs = 0;
    // If there is no room for a tombstone, a switch publishes the removal: it copies only live records.
    if (this.#appendTombstone(first)) this.#publish();
    else this.#hasPendingRemoval = !this.#switch(1);
  }

  get #active(): 0 | 1 {
    return this.#epoch % 2 === 0 ? 0 : 1;
  }

  #append(record: LiveRecord): boolean {
    if (!this.#hasRoom()) return false;
    const texts = [record.name, record.text1, record.text2, record.text3, record.text4];
    const refs: number[] = [];
    for (const text of texts) {
      const ref = typeof text === 'number' ? text : this.#store(text);
      if (ref === undefined) return false;
      refs.push(ref);
    }
    const bytes = this.#record.fill(0);
    bytes[RECORD.recordKind] = record.recordKind;
    bytes[RECORD.type] = record.type;
    bytes[RECORD.kind] = record.kind;
    bytes[RECORD.flags] = record.flags;
    bytes.writeUInt32LE(record.slot, RECORD.slot);
    bytes.writeUIntLE(record.id, RECORD.id, ID_BYTES);
    bytes.writeUIntLE(record.owner, RECORD.owner, ID_BYTES);
    bytes.writeUInt32LE(record.incarnation, RECORD.incarnation);
    refs.forEach((ref, index) => bytes.writeUInt32LE(ref, RECORD.name + index * 4));
    bytes.writeUInt32LE(record.extra1, RECORD.extra1);
    bytes.writeUInt32LE(record.extra2, RECORD.extra2);
    this.#write();
    return true;
  }

  #appendTombstone(id: number): boolean {
    if (!this.#hasRoom()) return false;
    const bytes = this.#record.fill(0);
    bytes[RECORD.recordKind] = RECORD_KIND.tombstone;
    bytes.writeUIntLE(id, RECORD.owner, ID_BYTES);
    this.#write();
    return true;
  }

  /** Whether the active directory has room for one more record. */
  #hasRoom(): boolean {
    const end = (this.#records + 1) * RECORD_SIZE;
    const capacity = this.#layout.records * RECORD_SIZE;
    return end <= capacity && this.#reserve(this.#layout.directories[this.#active], end, capacity);
  }

  #reserve(region: number, end: number, capacity: number): boolean {
    const isReserved = this.#file.reserve(region, end, capacity);
    if (!isReserved) this.#failures++;
    return isReserved;
  }

  /** Writes the record under construction. */
  #write(): void {
    const bytes = this.#record;
    bytes.writeUInt32LE(this.#records, RECORD.index);
    bytes.writeUInt32LE(crc32(this.#crcRange), RECORD.crc);
    const at = this.#layout.directories[this.#active] + this.#records * RECORD_SIZE;
    bytes.copy(this.#file.bytes, at);
    this.#records++;
  }

  /** Stores a string once in the active strings; returns its offset, or undefined if there is no room. */
  #store(text: string | Buffer): number | undefined {
    if (text.length === 0) return 0;
    const key = typeof text === 'string' ? text : `\0${text.toString('latin1')}`;
    const known = this.#offsets.get(key);
    if (known !== undefined) return known;
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    const at = this.#stringBytes;
    const end = at + 2 + bytes.length;
    const region = this.#layout.strings[this.#active];
    if (end > this.#layout.stringBytes) return undefined;
    if (!this.#reserve(region, end, this.#layout.stringBytes)) return undefined;
    this.#file.bytes.writeUInt16LE(bytes.length, region + at);
    bytes.copy(this.#file.bytes, region + at + 2);
    this.#stringBytes = end;
    this.#offsets.set(key, at);
    return at;
  }

  /** Writes the live records to the other directory and makes it active; false if strings fill more than `maxFill`. */
  #switch(maxFill: number): boolean {
    const before = [this.#epoch, this.#records, this.#stringBytes, this.#offsets] as const;
    this.#epoch++;
    this.#records = 0;
    this.#stringBytes = 2;
    this.#offsets = new Map();
    this.#storeStringBytes();
    let isWritten = true;
    for (const record of this.#live.values()) isWritten &&= this.#append(record);
    if (isWritten && this.#stringBytes <= this.#layout.stringBytes * maxFill) {
      this.#publish();
      return true;
    }
    [this.#epoch, this.#records, this.#stringBytes, this.#offsets] = before;
    return false;
  }

  #storeStringBytes(): void {
    const at = this.#active === 0 ? MUTABLE.stringBytesA : MUTABLE.stringBytesB;
    Atomics.store(this.#word, at / 8, BigInt(this.#stringBytes));
  }

  #publish(): void {
    this.#storeStringBytes();
    const word = (BigInt(this.#epoch) << 32n) | BigInt(this.#records);
    Atomics.store(this.#word, MUTABLE.directory / 8, word);
  }
}
