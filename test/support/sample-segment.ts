// The bytes of a small, complete segment, and functions that alter them and correct the CRCs.
import { crc32 } from 'node:zlib';
import {
  HEADER,
  MUTABLE,
  MUTABLE_OFFSET,
  RECORD,
  RECORD_SIZE,
} from '#app/native/segment/layout.js';
import { Segments } from './segments.js';

export const SAMPLE_CAPACITY = { records: 16, stringBytes: 2048, slots: 24, frameBytes: 2048 };

/** The indexes of the records. Up to the tombstone, a record's id is its index + 1. */
export const SAMPLE = {
  ...{ root: 0, child: 1, counter: 2, text: 3, histogram: 4, summary: 5, gone: 6, tombstone: 7 },
  ...{ records: 8 },
} as const;

/** The offsets of the regions of the sample. */
export const SAMPLE_AT = { directory: 4096, strings: 8192, frames: 28_672 } as const;
export const SAMPLE_BYTES = 32_768;

/**
 * Returns a live segment without a heartbeat. It has a root, a child, a variable of each shape, and a removed
 * variable.
 */
export function sampleSegment(): Buffer {
  const segments = new Segments();
  try {
    const options = { capacity: SAMPLE_CAPACITY, heartbeatMs: 0 };
    const publisher = segments.publisher('sample', options);
    const identity = { host: 'h', instance: '1', application: 'ads' };
    const root = publisher.addRoot('h.1.ads', 'Ads', { identity });
    const child = publisher.addObject(root, 'h.1.ads.users', 'Users');
    const words = { kind: 'counter', unit: 'bytes', help: 'Bytes sent' } as const;
    publisher.addVariable(child, 'sent', 'u64', words).set(42);
    publisher.addVariable(child, 'name', 'string', { textBytes: 24 }).set('Grüße');
    const bounds = { schema: [0.5, 1, 2] };
    publisher.addVariable(child, 'delay', 'histogram', bounds).set([1, 2, 3, 4], 9.5);
    const quantiles = { schema: [0.5, 0.99] };
    publisher.addVariable(root, 'size', 'summary', quantiles).set(7, 70, [10, 11]);
    publisher.removeVariable(publisher.addVariable(root, 'gone', 'f64'));
    publisher.place();
    return segments.bytes('sample');
  } finally {
    segments.clear();
  }
}

/** Alters the immutable header, and updates its CRC. */
export function alterHeader(bytes: Buffer, change: (header: Buffer) => void): void {
  change(bytes.subarray(0, HEADER.crc));
  bytes.writeUInt32LE(crc32(bytes.subarray(0, HEADER.crc)), HEADER.crc);
}

/** Alters a record of directory A, and updates its CRC. */
export function alterRecord(bytes: Buffer, index: number, change: (record: Buffer) => void): void {
  const at = SAMPLE_AT.directory + index * RECORD_SIZE;
  const record = bytes.subarray(at, at + RECORD_SIZE);
  change(record);
  record.writeUInt32LE(crc32(record.subarray(RECORD.index)), RECORD.crc);
}

/** Stores one of the 8-byte words in the mutable part of the header page. */
export function alterWord(bytes: Buffer, field: keyof typeof MUTABLE, value: bigint): void {
  bytes.writeBigUInt64LE(value, MUTABLE_OFFSET + MUTABLE[field]);
}
