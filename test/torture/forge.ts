// Writes segments byte by byte. They are valid, but this project's publisher would not write them.
import { crc32 } from 'node:zlib';
import { PublisherFile } from '#app/native/publisher/publisher-file.js';
import { headerBytes, computeLayout } from '#app/native/publisher/segment-layout.js';
import type { SegmentLayout } from '#app/native/publisher/segment-layout.js';
import { VALUE_TYPES } from '#app/published.js';
import type { ValueType } from '#app/published.js';
import {
  MUTABLE,
  MUTABLE_OFFSET,
  NO_SLOT,
  PAGE,
  RECORD,
  RECORD_KIND,
  RECORD_SIZE,
  SEGMENT_STATE,
  segmentName,
} from '#app/native/segment/layout.js';

export interface ForgeSizes {
  readonly records: number;
  /** The size of each string region. */
  readonly stringBytes?: number;
  readonly slots?: number;
  readonly frameBytes?: number;
}

export interface ForgedObject {
  readonly name: string;
  readonly parent?: number;
  readonly className?: string;
}

export interface ForgedVariable {
  readonly owner: number;
  readonly name: string;
  readonly type?: ValueType;
  readonly help?: string;
  /** The reference to a string that holds the bytes of the schema. */
  readonly schema?: number;
  /** The offset and length of the frame in 8-byte units. */
  readonly frame?: readonly [at: number, words: number];
  readonly value?: bigint;
}

/** The word of a slot that has a value and incarnation 1. */
const SYNCED = 3;
const SHORTEST = 2;

export class Forge {
  readonly layout: SegmentLayout;
  readonly #file: PublisherFile;
  /** The whole segment. */
  readonly bytes: Buffer;
  readonly #strings = new Map<string, number>();
  #stringEnd = SHORTEST;
  #records = 0;
  #epoch = 0;
  #ids = 0;
  #slots = 0;

  /** Creates a segment that is locked and has no heartbeat. It has no name until `place` is called. */
  constructor(contextId: string, serverKey: string, sizes: ForgeSizes) {
    const { records, stringBytes = 1 << 20, slots = records, frameBytes = PAGE } = sizes;
    this.layout = computeLayout({ records, stringBytes, slots, frameBytes });
    const { fileSize } = this.layout;
    const name = segmentName(contextId, 'pool', serverKey);
    this.#file = new PublisherFile(name, fileSize, 0o644, `${process.pid}.forged`);
    this.bytes = this.#file.bytes;
    if (!this.#file.reserve(PAGE, fileSize - PAGE, fileSize - PAGE))
      throw new Error(`/dev/shm has no room for ${fileSize} bytes`);
    const facts = { generation: BigInt(process.pid) + 1n, realtimeNs: 0n, monotonicNs: 0n };
    const { pid } = process;
    headerBytes(this.layout, { ...facts, pid, heartbeatPeriodNs: 0n, hasSeries: false }).copy(
      this.bytes,
    );
    this.#mutable('state', SEGMENT_STATE.live);
    this.#mutable('stringBytesA', SHORTEST);
  }

  get records(): number {
    return this.#records;
  }

  /** Appends bytes to the strings, unless they are there already. Returns the reference to them. */
  string(text: string | Buffer): number {
    const key = typeof text === 'string' ? text : text.toString('latin1');
    const known = this.#strings.get(key);
    if (known !== undefined) return known;
    const bytes = Buffer.from(text);
    if (bytes.length === 0) return 0;
    const at = this.#stringEnd;
    this.#stringEnd += 2 + bytes.length;
    if (this.#stringEnd > this.layout.stringBytes) throw new RangeError('the strings are full');
    const from = this.#stringsAt + at;
    this.bytes.writeUInt16LE(bytes.length, from);
    bytes.copy(this.bytes, from + 2);
    this.#strings.set(key, at);
    return at;
  }

  /** Returns the id of the object. */
  object({ name, parent = 0, className = 'Thing' }: ForgedObject): number {
    const slot = this.#slot(1n);
    return this.#record(RECORD_KIND.object, (at) => {
      this.bytes.writeUInt32LE(slot, at + RECORD.slot);
      this.bytes.writeBigUInt64LE(BigInt(parent), at + RECORD.owner);
      this.bytes.writeUInt32LE(1, at + RECORD.incarnation);
      this.bytes.writeUInt32LE(this.string(name), at + RECORD.name);
      this.bytes.writeUInt32LE(this.string(className), at + RECORD.text1);
      if (parent === 0) this.bytes.writeUInt32LE(NO_SLOT, at + RECORD.extra1);
    });
  }

  /** Returns the id of the variable. */
  variable(made: ForgedVariable): number {
    const { owner, name, type = 'u64', help = '', schema = 0, frame, value = 1n } = made;
    const slot = this.#slot(value);
    return this.#record(RECORD_KIND.variable, (at) => {
      this.bytes.writeUInt8(VALUE_TYPES[type].number, at + RECORD.type);
      this.bytes.writeUInt32LE(slot, at + RECORD.slot);
      this.bytes.writeBigUInt64LE(BigInt(owner), at + RECORD.owner);
      this.bytes.writeUInt32LE(1, at + RECORD.incarnation);
      this.bytes.writeUInt32LE(this.string(name), at + RECORD.name);
      this.bytes.writeUInt32LE(this.string(help), at + RECORD.text2);
      this.bytes.writeUInt32LE(schema, at + RECORD.text3);
      this.bytes.writeUInt32LE(frame?.[0] ?? 0, at + RECORD.text4);
      this.bytes.writeUInt32LE(frame?.[1] ?? 0, at + RECORD.extra1);
    });
  }

  /** Removes an object or a variable. The words of its slots stay unchanged. */
  tombstone(id: number): void {
    this.#record(RECORD_KIND.tombstone, (at) => {
      this.bytes.writeBigUInt64LE(BigInt(id), at + RECORD.owner);
    });
  }

  /**
   * Writes a frame with a text and returns its offset and length. With `isTorn`, the frame stays in the
   * middle of an update forever.
   */
  text(at: number, text: Buffer, isTorn = false): readonly [number, number] {
    const words = 3 + Math.ceil(text.length / 8);
    const from = this.layout.frames + at * 8;
    this.bytes.writeBigUInt64LE(1n, from);
    this.bytes.writeBigUInt64LE(BigInt(text.length), from + 8);
    text.copy(this.bytes, from + 16);
    this.bytes.writeBigUInt64LE(isTorn ? 2n : 1n, from + (words - 1) * 8);
    return [at, words];
  }

  /** Makes all records so far visible to readers. */
  publish(): void {
    this.#mutable(this.#epoch % 2 === 0 ? 'stringBytesA' : 'stringBytesB', this.#stringEnd);
    const at = MUTABLE_OFFSET + MUTABLE.directory;
    this.bytes.writeBigUInt64LE((BigInt(this.#epoch) << 32n) | BigInt(this.#records), at);
  }

  /** Makes the other directory active, with the records that it already has. */
  flip(records: number): void {
    this.#epoch++;
    this.#records = records;
    this.publish();
  }

  /** Copies the active directory and its strings to the other one. */
  copyDirectory(): void {
    const { directories, strings } = this.layout;
    this.bytes.copyWithin(
      directories[1],
      directories[0],
      directories[0] + this.#records * RECORD_SIZE,
    );
    this.bytes.copyWithin(strings[1], strings[0], strings[0] + this.#stringEnd);
    this.#mutable('stringBytesB', this.#stringEnd);
  }

  /** Notifies readers of a change. */
  notify(): void {
    const at = MUTABLE_OFFSET + MUTABLE.notifications;
    this.bytes.writeBigUInt64LE(this.bytes.readBigUInt64LE(at) + 1n, at);
    this.#file.wake(at);
  }

  place(): void {
    this.#file.place();
  }

  close(): void {
    this.#file.close();
  }

  get #stringsAt(): number {
    return this.layout.strings[this.#epoch % 2 === 0 ? 0 : 1];
  }

  #slot(value: bigint): number {
    const slot = this.#slots++;
    if (slot >= this.layout.slots) throw new RangeError('the slots are full');
    this.bytes.writeBigUInt64LE(value, this.layout.slotValues + slot * 8);
    this.bytes.writeUInt32LE(SYNCED, this.layout.words + slot * 4);
    return slot;
  }

  /** Returns the id of the record. */
  #record(kind: number, fill: (at: number) => void): number {
    const index = this.#records++;
    if (index >= this.layout.records) throw new RangeError('the directory is full');
    const directory = this.layout.directories[this.#epoch % 2 === 0 ? 0 : 1];
    const at = directory + index * RECORD_SIZE;
    const isTombstone = kind === RECORD_KIND.tombstone;
    const id = isTombstone ? 0 : ++this.#ids;
    this.bytes.fill(0, at, at + RECORD_SIZE);
    this.bytes.writeUInt32LE(index, at + RECORD.index);
    this.bytes.writeUInt8(kind, at + RECORD.recordKind);
    this.bytes.writeBigUInt64LE(BigInt(id), at + RECORD.id);
    fill(at);
    const record = this.bytes.subarray(at + RECORD.index, at + RECORD_SIZE);
    this.bytes.writeUInt32LE(crc32(record), at + RECORD.crc);
    return id;
  }

  #mutable(field: keyof typeof MUTABLE, value: number): void {
    this.bytes.writeBigUInt64LE(BigInt(value), MUTABLE_OFFSET + MUTABLE[field]);
  }
}
