// Reads and validates the header page of a segment, and lists the segments of the host.
import { closeSync, constants, openSync, readSync, readdirSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Fault, isSystemError } from '../../errors.js';
import { SHM_FOLDER } from '../os/shared-memory.js';
import type { SegmentFile } from '../os/shared-memory.js';
import {
  BYTE_ORDER,
  FEATURE,
  HEADER,
  KNOWN_FEATURES,
  LIMITS,
  MAGIC,
  MAJOR,
  MUTABLE,
  MUTABLE_OFFSET,
  PAGE,
  RECORD_SIZE,
} from './layout.js';

/** The immutable fields of a segment. Offsets, `end`, and the capacities of strings and frames are in bytes. */
export interface SegmentHeader {
  readonly generation: bigint;
  /** The pid that the publisher states. */
  readonly pid: bigint;
  readonly startedRealtimeNs: bigint;
  readonly heartbeatPeriodNs: bigint;
  /** Whether variables may have the flag `series`. */
  readonly hasSeries: boolean;
  readonly directories: readonly [number, number];
  readonly recordCapacity: number;
  readonly strings: readonly [number, number];
  readonly stringCapacity: number;
  readonly words: number;
  readonly slots: number;
  readonly slotCapacity: number;
  readonly frames: number;
  readonly frameCapacity: number;
  /** End of the last region, which is the minimum size of the file. */
  readonly end: number;
}

export interface MutableFields {
  readonly state: number;
  readonly heartbeatNs: bigint;
  /** The number of notifications, modulo 2^53. */
  readonly notifications: number;
  readonly epoch: number;
  readonly records: number;
  readonly objectsDropped: number;
  readonly variablesDropped: number;
}

/**
 * Reads and checks the immutable header.
 * @throws Fault SEGMENT_INCOMPATIBLE for another format, SEGMENT_CORRUPT for a damaged header
 */
export function readHeader(file: SegmentFile): SegmentHeader {
  const bytes = Buffer.alloc(HEADER.size);
  const read = file.read(bytes, HEADER.size, 0);
  if (read >= MAGIC.length && !bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw incompatible(`its magic is ${bytes.toString('hex', 0, 8)}, not ${MAGIC.toString('hex')}`);
  if (read < HEADER.size) throw corrupt(`the header has ${read} of ${HEADER.size} bytes`);
  const order = bytes.readUInt32LE(HEADER.byteOrder);
  if (order !== BYTE_ORDER)
    throw incompatible(
      `its byte order mark is 0x${order.toString(16)}, allowed: 0x${BYTE_ORDER.toString(16)}`,
    );
  const major = bytes.readUInt16LE(HEADER.major);
  if (major !== MAJOR) throw incompatible(`its version is ${major}, allowed: ${MAJOR}`);
  const stated = bytes.readUInt32LE(HEADER.crc);
  const actual = crc32(bytes.subarray(0, HEADER.crc));
  if (stated !== actual)
    throw corrupt(`the header's CRC is ${crcText(stated)}, but its bytes give ${crcText(actual)}`);
  const unknown = bytes.readBigUInt64LE(HEADER.requiredFeatures) & ~KNOWN_FEATURES;
  if (unknown !== 0n)
    throw incompatible(`it requires the unknown features 0x${unknown.toString(16)}`);
  const recordSize = bytes.readUInt32LE(HEADER.recordSize);
  if (recordSize !== RECORD_SIZE)
    throw incompatible(`its records have ${recordSize} bytes, allowed: ${RECORD_SIZE}`);
  return regions(bytes, file.size());
}

function regions(bytes: Buffer, fileBytes: number): SegmentHeader {
  const number = (at: number, name: string, most: number) => {
    const value = bytes.readBigUInt64LE(at);
    if (value > BigInt(most)) throw corrupt(`${name} is ${value}, allowed: at most ${most}`);
    return Number(value);
  };
  let end = PAGE;
  const region = (at: number, length: number, name: string) => {
    const offset = number(at, name, fileBytes);
    if (offset < PAGE || offset % PAGE !== 0 || offset + length > fileBytes)
      throw corrupt(`${name} at ${offset} has ${length} bytes, but the file has ${fileBytes}`);
    end = Math.max(end, offset + length);
    return offset;
  };
  const recordCapacity = number(HEADER.recordCapacity, 'record capacity', LIMITS.records);
  const stringCapacity = number(HEADER.stringCapacity, 'string capacity', LIMITS.stringRegionBytes);
  const slotCapacity = number(HEADER.slotCapacity, 'slot capacity', LIMITS.slots);
  const frameCapacity = number(HEADER.frameCapacity, 'frame capacity', LIMITS.frameRegionBytes);
  const directoryBytes = recordCapacity * RECORD_SIZE;
  const fields = {
    generation: bytes.readBigUInt64LE(HEADER.generation),
    pid: bytes.readBigUInt64LE(HEADER.pid),
    startedRealtimeNs: bytes.readBigUInt64LE(HEADER.startedRealtimeNs),
    heartbeatPeriodNs: bytes.readBigUInt64LE(HEADER.heartbeatPeriodNs),
    hasSeries: (bytes.readBigUInt64LE(HEADER.requiredFeatures) & FEATURE.series) !== 0n,
    directories: [
      region(HEADER.directoryA, directoryBytes, 'directory A'),
      region(HEADER.directoryB, directoryBytes, 'directory B'),
    ],
    recordCapacity,
    strings: [
      region(HEADER.stringsA, stringCapacity, 'strings A'),
      region(HEADER.stringsB, stringCapacity, 'strings B'),
    ],
    stringCapacity,
    words: region(HEADER.words, slotCapacity * 4, 'words'),
    slots: region(HEADER.slots, slotCapacity * 8, 'slots'),
    slotCapacity,
    frames: region(HEADER.frames, frameCapacity, 'frames'),
    frameCapacity,
  } as const;
  return { ...fields, end };
}

/**
 * Checks that the file still contains all regions.
 * @throws Fault SEGMENT_CORRUPT if it was truncated
 */
export function checkSize(file: SegmentFile, { end }: SegmentHeader): void {
  const size = file.size();
  if (size < end) throw corrupt(`the file was truncated to ${size} of ${end} bytes`);
}

/**
 * Reads the mutable fields in one small copy.
 * @throws Fault SEGMENT_CORRUPT if they exceed the capacities in the header
 */
export function readMutableFields(file: SegmentFile, header: SegmentHeader): MutableFields {
  const bytes = Buffer.allocUnsafe(MUTABLE.size);
  const read = file.read(bytes, MUTABLE.size, MUTABLE_OFFSET);
  if (read < MUTABLE.size) throw corrupt(`the file ends within the header page`);
  const records = bytes.readUInt32LE(MUTABLE.directory);
  if (records > header.recordCapacity)
    throw corrupt(
      `the directory states ${records} records, but has room for ${header.recordCapacity}`,
    );
  return {
    state: Number(bytes.readBigUInt64LE(MUTABLE.state)),
    heartbeatNs: bytes.readBigUInt64LE(MUTABLE.heartbeatNs),
    notifications: Number(BigInt.asUintN(53, bytes.readBigUInt64LE(MUTABLE.notifications))),
    epoch: bytes.readUInt32LE(MUTABLE.directory + 4),
    records,
    objectsDropped: Number(bytes.readBigUInt64LE(MUTABLE.objectsDropped)),
    variablesDropped: Number(bytes.readBigUInt64LE(MUTABLE.variablesDropped)),
  };
}

/**
 * Reads the number of valid bytes of a string region. Call it after reading the directory field. One copy of both
 * fields could hold a new number of records with an old number of bytes, since a copy may read bytes in any order.
 * @throws Fault SEGMENT_CORRUPT if the number exceeds the region
 */
export function readStringBytes(file: SegmentFile, header: SegmentHeader, side: number): number {
  const word = Buffer.allocUnsafe(8);
  const at = side === 0 ? MUTABLE.stringBytesA : MUTABLE.stringBytesB;
  if (file.read(word, 8, MUTABLE_OFFSET + at) < 8)
    throw corrupt('the file ends within the header page');
  const length = word.readBigUInt64LE();
  if (length > BigInt(header.stringCapacity))
    throw corrupt(
      `the directory states ${length} string bytes, but the region has ${header.stringCapacity}`,
    );
  return Number(length);
}

export const corrupt = (what: string): Fault =>
  new Fault('SEGMENT_CORRUPT', `Segment is corrupt: ${what}`);

const incompatible = (what: string): Fault =>
  new Fault('SEGMENT_INCOMPATIBLE', `Segment is of another format: ${what}`);

export const crcText = (crc: number): string => crc.toString(16).padStart(8, '0');

/** The form of segment names: context id, pool name, server key. */
const FORM = /^[^.][^.]*\..*\../;

/** The names of all segments that this process may read; none if it may not list the directory. */
export function segmentNames(folder = SHM_FOLDER): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => FORM.test(name) && isSegment(`${folder}/${name}`))
      .sort();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return [];
  }
}

function isSegment(path: string): boolean {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(MAGIC.length);
    try {
      return readSync(fd, bytes) === MAGIC.length && bytes.equals(MAGIC);
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}
