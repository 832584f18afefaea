// Computes the regions of a new segment, and the bytes of its header.
import { crc32 } from 'node:zlib';
import {
  BYTE_ORDER,
  FEATURE,
  HEADER,
  MAGIC,
  MAJOR,
  MINOR,
  PAGE,
  RECORD_SIZE,
} from '../segment/layout.js';
import { DEFAULT_CAPACITY } from './allocators.js';
import type { Capacity } from './allocators.js';

export interface SegmentLayout extends Capacity {
  readonly directories: readonly [number, number];
  readonly strings: readonly [number, number];
  readonly words: number;
  readonly slotValues: number;
  readonly frames: number;
  readonly fileSize: number;
}

const pages = (bytes: number) => Math.ceil(bytes / PAGE) * PAGE;

/** The maximum number of bytes of a mapping that Node can access. */
const MAX_FILE_BYTES = 2 ** 30 - 1;

/** @throws RangeError if the segment would be larger than this publisher can map */
export function computeLayout(options: Partial<Capacity> = {}): SegmentLayout {
  const capacity: Capacity = {
    records: options.records ?? DEFAULT_CAPACITY.records,
    stringBytes: options.stringBytes ?? DEFAULT_CAPACITY.stringBytes,
    slots: options.slots ?? DEFAULT_CAPACITY.slots,
    frameBytes: options.frameBytes ?? DEFAULT_CAPACITY.frameBytes,
  };
  let end = PAGE;
  const region = (bytes: number) => (end += pages(bytes)) - pages(bytes);
  const directoryA = region(capacity.records * RECORD_SIZE);
  const stringsA = region(capacity.stringBytes);
  const directoryB = region(capacity.records * RECORD_SIZE);
  const stringsB = region(capacity.stringBytes);
  const words = region(capacity.slots * 4);
  const slotValues = region(capacity.slots * 8);
  const frames = region(capacity.frameBytes);
  if (end > MAX_FILE_BYTES)
    throw new RangeError(
      `Publisher: capacity: bytes in total: found ${end}, allowed: an integer from 1 to ${MAX_FILE_BYTES}`,
    );
  return {
    ...capacity,
    directories: [directoryA, directoryB],
    strings: [stringsA, stringsB],
    words,
    slotValues,
    frames,
    fileSize: end,
  };
}

/** The fields of a header besides the layout. Times are in ns. */
export interface HeaderFields {
  readonly generation: bigint;
  readonly realtimeNs: bigint;
  readonly monotonicNs: bigint;
  readonly pid: number;
  readonly heartbeatPeriodNs: bigint;
  readonly hasSeries: boolean;
}

/** The 256 immutable bytes of the header. */
export function headerBytes(layout: SegmentLayout, fields: HeaderFields): Buffer {
  const bytes = Buffer.alloc(HEADER.size);
  const u64 = (at: number, value: number | bigint) => bytes.writeBigUInt64LE(BigInt(value), at);
  MAGIC.copy(bytes, HEADER.magic);
  bytes.writeUInt32LE(BYTE_ORDER, HEADER.byteOrder);
  bytes.writeUInt16LE(MAJOR, HEADER.major);
  bytes.writeUInt16LE(MINOR, HEADER.minor);
  bytes.writeUInt32LE(PAGE, HEADER.headerSize);
  bytes.writeUInt32LE(RECORD_SIZE, HEADER.recordSize);
  u64(HEADER.requiredFeatures, fields.hasSeries ? FEATURE.series : 0n);
  u64(HEADER.generation, fields.generation);
  u64(HEADER.startedRealtimeNs, fields.realtimeNs);
  u64(HEADER.startedMonotonicNs, fields.monotonicNs);
  u64(HEADER.pid, fields.pid);
  u64(HEADER.heartbeatPeriodNs, fields.heartbeatPeriodNs);
  u64(HEADER.fileSize, layout.fileSize);
  u64(HEADER.directoryA, layout.directories[0]);
  u64(HEADER.directoryB, layout.directories[1]);
  u64(HEADER.recordCapacity, layout.records);
  u64(HEADER.stringsA, layout.strings[0]);
  u64(HEADER.stringsB, layout.strings[1]);
  u64(HEADER.stringCapacity, layout.stringBytes);
  u64(HEADER.words, layout.words);
  u64(HEADER.slots, layout.slotValues);
  u64(HEADER.slotCapacity, layout.slots);
  u64(HEADER.frames, layout.frames);
  u64(HEADER.frameCapacity, layout.frameBytes);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, HEADER.crc)), HEADER.crc);
  return bytes;
}
