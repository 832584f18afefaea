// The header and entries of a counter file: which counters it has, and where their values are.
import { Fault } from '../errors.js';

/** The first bytes of the file, in whatever byte order the rest is. */
const MAGIC = [0xca, 0xfe, 0xc0, 0xc0] as const;

/** Offsets in the header. */
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

/** The only structure of entries that there is. */
const MAJOR = 2;

/** Offsets in an entry, whose parts lie at offsets from its own start. */
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

/** Data types, as the characters that the JVM uses for Java's own types. */
const LONG = 'J'.charCodeAt(0);
const BYTE = 'B'.charCodeAt(0);

export const UNIT = { none: 1, bytes: 2, ticks: 3, events: 4, string: 5, hertz: 6 } as const;
export const VARIABILITY = { constant: 1, monotonic: 2, variable: 3 } as const;

/** What is believed of a file: a JVM takes at most 2 MiB, and has some 200 entries of 32 KiB. */
export const LIMITS = { bytes: 4 * 2 ** 20, entries: 16_384, name: 256, text: 256 } as const;

// The header of a counter file, checked.
export interface PerfHeader {
  readonly isLittleEndian: boolean;
  /** Bytes of header and entries. */
  readonly used: number;
  /** Bytes of the counters for which the file had no room. */
  readonly overflow: number;
  /** When an entry was added last, in ticks of the JVM. */
  readonly modified: bigint;
  readonly entryOffset: number;
  readonly entries: number;
}

/**
 * The header at the start of these bytes; undefined while the JVM has not finished it.
 * @param size of the file
 * @throws Fault SEGMENT_CORRUPT or SEGMENT_INCOMPATIBLE, with what is wrong
 */
export function readPerfHeader(bytes: Uint8Array, size: number): PerfHeader | undefined {
  if (bytes.length < HEADER.bytes || isBlank(bytes)) return undefined;
  if (MAGIC.some((byte, index) => bytes[index] !== byte))
    throw corrupt('does not begin with cafec0c0');
  const order = bytes[HEADER.byteOrder] ?? 0;
  if (order > 1) throw corrupt(`has the byte order ${order}`);
  const major = bytes[HEADER.major] ?? 0;
  if (major !== MAJOR)
    throw new Fault('SEGMENT_INCOMPATIBLE', `has version ${major} of the format, known: ${MAJOR}`);
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
    throw corrupt(`says that its entries begin at byte ${entryOffset}`);
  if (entries < 0 || entries > LIMITS.entries) throw corrupt(`says that it has ${entries} entries`);
}

/** A JVM makes a file of zeros first. */
const isBlank = (bytes: Uint8Array): boolean => MAGIC.every((_byte, index) => bytes[index] === 0);

export const corrupt = (what: string): Fault => new Fault('SEGMENT_CORRUPT', what);

/** A counter, as its entry describes it. */
export interface PerfEntry {
  readonly name: string;
  readonly type: 'long' | 'text';
  /** One of `UNIT` and of `VARIABILITY`, or another number. */
  readonly unit: number;
  readonly variability: number;
  /** Offset of the entry in the file, and of the one behind it. */
  readonly start: number;
  readonly end: number;
  /** Offset of the value in the file, and its bytes: 8, or the most that a text may have. */
  readonly valueAt: number;
  readonly valueBytes: number;
}

/** Where the next entry begins, and how many are before it. */
export interface Position {
  readonly at: number;
  readonly count: number;
}

/**
 * The counters from a position on, as far as their entries are whole: a JVM counts an entry before it
 * fills it. Entries of other types and with odd names are passed over.
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

/** An entry, none if it is of no use, and where it ends; undefined if it is not whole. */
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
  // Only an aligned value is copied in one go.
  if (type === 'long' && valueAt % 8 !== 0) return { entry: undefined, end };
  const unit = bytes[start + ENTRY.unit] ?? 0;
  const variability = bytes[start + ENTRY.variability] ?? 0;
  return { entry: { name, type, unit, variability, start, end, valueAt, valueBytes }, end };
}

/** Whether one part of an entry ends where the next begins, but for the bytes that align it. */
const isPadding = (from: number, to: number): boolean => to >= from && to - from < 8;

/** How long the value of a data type is; undefined for a type that a JVM does not use. */
function bytesOf(dataType: number, vector: number): number | undefined {
  if (dataType === LONG && vector === 0) return 8;
  return dataType === BYTE && vector > 0 ? vector : undefined;
}

/** A name as the JVM writes them; empty for any other. */
function nameOf(bytes: Buffer, start: number, end: number): string {
  if (end - start > LIMITS.name) return '';
  const name = bytes.toString('latin1', start, end);
  return /^[\x21-\x7e]+$/.test(name) ? name : '';
}
