// The entries of a counter file: which counters it has, and where their values are.
import { BYTE, ENTRY, LIMITS, LONG } from './layout.js';
import type { PerfHeader } from './perf-header.js';

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
