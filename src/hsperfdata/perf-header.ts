// The header of a counter file, checked.
import { Fault } from '../errors.js';
import { HEADER, LIMITS, MAGIC, MAJOR } from './layout.js';

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
