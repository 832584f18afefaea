// Parses the header and the entries of a counter file: the properties of each counter, and the offset of its value.
import { Fault } from '../errors.js';

/** The first bytes of the file. They do not depend on its byte order. */
const MAGIC = [0xca, 0xfe, 0xc0, 0xc0] as const;

/** The offsets of the header fields, and the size of the header. */
export const HEADER = {
  byteOrder: 4,
  major: 5,
  accessible: 7,
  used: 8,
  overflow: 12,
  modified: 16,
  entryOffset: 24,
  entries: 28,
  bytes: 32,
} as const;

/** The only major version that defines this entry format. */
const MAJOR = 2;

/** The offsets of the entry fields, and their size. `nameOffset` and `dataOffset` count from the start of the entry. */
const ENTRY = {
  length: 0,
  nameOffset: 4,
  vectorLength: 8,
  dataType: 12,
  unit: 14,
  variability: 15,
  dataOffset: 16,
  bytes: 20,
} as const;

/** The data types. Their codes are the characters of Java's type descriptors. */
const LONG = 'J'.charCodeAt(0);
const BYTE = 'B'.charCodeAt(0);

export const UNIT = { none: 1, bytes: 2, ticks: 3, events: 4, string: 5, hertz: 6 } as const;
export const VARIABILITY = { constant: 1, monotonic: 2, variable: 3 } as const;

/** Limits of a valid file. A JVM uses at most 2 MiB, usually 32 KiB with 200 entries. */
export const LIMITS = { bytes: 4 * 2 ** 20, entries: 16_384, name: 256, text: 256 } as const;

/** A validated header. */
export interface PerfHeader {
  readonly isLittleEndian: boolean;
  /** The size of header and entries, in bytes. */
  readonly used: number;
  /** The bytes of counters that did not fit in the file. */
  readonly overflow: number;
  /** The time when the JVM added the last entry, in ticks of its clock. */
  readonly modified: bigint;
  readonly entryOffset: number;
  readonly entries: number;
}

/**
 * Reads the header at the start of `bytes`; undefined until the JVM has finished it.
 * @param size of the file, in bytes
 * @throws Fault SEGMENT_CORRUPT or SEGMENT_INCOMPATIBLE
 */
export function readPerfHeader(bytes: Uint8Array, size: number): PerfHeader | undefined {
  if (bytes.length < HEADER.bytes || isBlank(bytes)) return undefined;
  if (MAGIC.some((byte, index) => bytes[index] !== byte))
    throw corrupt('does not begin with the bytes cafec0c0');
  const order = bytes[HEADER.byteOrder] ?? 0;
  if (order > 1) throw corrupt(`has the byte order ${order}, allowed: 0 or 1`);
  const major = bytes[HEADER.major] ?? 0;
  if (major !== MAJOR)
    throw new Fault(
      'SEGMENT_INCOMPATIBLE',
      `has version ${major} of the format, allowed: ${MAJOR}`,
    );
  if (bytes[HEADER.accessible] !== 1) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER.bytes);
  const isLittleEndian = order === 1;
  const int = (at: number) => view.getInt32(at, isLittleEndian);
  const header = {
    isLittleEndian,
    used: int(HEADER.used),
    overflow: Math.max(0, int(HEADER.overflow)),
    modified: view.getBigInt64(HEADER.modified, isLittleEndian),
    entryOffset: int(HEADER.entryOffset),
    entries: int(HEADER.entries),
  };
  check(header, size);
  return header;
}

function check({ used, entryOffset, entries }: PerfHeader, size: number): void {
  if (used < HEADER.bytes || used > Math.min(size, LIMITS.bytes))
    throw corrupt(`says that ${used} of its ${size} bytes are used`);
  if (entryOffset < HEADER.bytes || entryOffset > used || entryOffset % 4 !== 0)
    throw corrupt(
      `says that its entries begin at byte ${entryOffset}, allowed: multiples of 4 from ${HEADER.bytes} to ${used}`,
    );
  if (entries < 0 || entries > LIMITS.entries)
    throw corrupt(`says that it has ${entries} entries, allowed: at most ${LIMITS.entries}`);
}

/** Whether the magic is still zero, as in a file that a JVM has just created. */
const isBlank = (bytes: Uint8Array): boolean => MAGIC.every((_byte, index) => bytes[index] === 0);

export const corrupt = (what: string): Fault => new Fault('SEGMENT_CORRUPT', what);

/** The description of a counter. */
export interface PerfEntry {
  readonly name: string;
  readonly type: 'long' | 'text';
  /** The unit: one of `UNIT`, or an unknown number. */
  readonly unit: number;
  /** The variability: one of `VARIABILITY`, or an unknown number. */
  readonly variability: number;
  /** The offsets in the file at which the entry starts and ends. */
  readonly start: number;
  readonly end: number;
  /** The offset of the value in the file. */
  readonly valueAt: number;
  /** The size of the value: 8 bytes for a number, the capacity for a text. */
  readonly valueBytes: number;
}

/** The offset of the next entry, and the number of entries before it. */
export interface Position {
  readonly at: number;
  readonly count: number;
}

/**
 * Reads the complete entries, beginning at a position. An entry may be incomplete, since a JVM increases the number
 * of entries before it fills the new entry. Skips entries with unknown types or invalid names.
 */
export function readEntries(
  bytes: Buffer,
  header: PerfHeader,
  from: Position,
): { readonly entries: readonly PerfEntry[]; readonly next: Position } {
  const entries: PerfEntry[] = [];
  let { at, count } = from;
  while (count < header.entries) {
    const read = readEntry(bytes, header, at);
    if (read === undefined) break;
    if (read.entry !== undefined) entries.push(read.entry);
    at = read.end;
    count++;
  }
  return { entries, next: { at, count } };
}

/**
 * Reads the entry at `start`. Returns undefined if the entry is incomplete, and a result without `entry` if the
 * reader must skip the entry.
 */
function readEntry(
  bytes: Buffer,
  { used, isLittleEndian }: PerfHeader,
  start: number,
): { readonly entry: PerfEntry | undefined; readonly end: number } | undefined {
  if (start % 4 !== 0 || start + ENTRY.bytes > used) return undefined;
  const int = (at: number): number =>
    isLittleEndian ? bytes.readInt32LE(start + at) : bytes.readInt32BE(start + at);
  const length = int(ENTRY.length);
  const end = start + length;
  if (length <= ENTRY.bytes || length % 4 !== 0 || end > used) return undefined;
  const nameAt = start + int(ENTRY.nameOffset);
  const valueAt = start + int(ENTRY.dataOffset);
  if (nameAt < start + ENTRY.bytes || valueAt <= nameAt || valueAt >= end) return undefined;
  const nameEnd = bytes.indexOf(0, nameAt);
  if (nameEnd < 0 || !isPadding(nameEnd + 1, valueAt)) return undefined;
  const vector = int(ENTRY.vectorLength);
  const valueBytes = bytesOf(bytes[start + ENTRY.dataType] ?? 0, vector);
  if (vector < 0 || (valueBytes !== undefined && !isPadding(valueAt + valueBytes, end)))
    return undefined;
  const name = nameOf(bytes, nameAt, nameEnd);
  if (name === '' || valueBytes === undefined) return { entry: undefined, end };
  const type = vector === 0 ? 'long' : 'text';
  // Only a copy of an aligned value is atomic.
  if (type === 'long' && valueAt % 8 !== 0) return { entry: undefined, end };
  const unit = bytes[start + ENTRY.unit] ?? 0;
  const variability = bytes[start + ENTRY.variability] ?? 0;
  return { entry: { name, type, unit, variability, start, end, valueAt, valueBytes }, end };
}

/** Whether only alignment bytes lie between two parts of an entry. */
const isPadding = (from: number, to: number): boolean => to >= from && to - from < 8;

/** The size of a value in bytes; undefined for an unknown type. */
function bytesOf(dataType: number, vector: number): number | undefined {
  if (dataType === LONG && vector === 0) return 8;
  return dataType === BYTE && vector > 0 ? vector : undefined;
}

/** The name of a counter; empty if it is invalid. */
function nameOf(bytes: Buffer, start: number, end: number): string {
  if (end - start > LIMITS.name) return '';
  const name = bytes.toString('latin1', start, end);
  return /^[\x21-\x7e]+$/.test(name) ? name : '';
}
