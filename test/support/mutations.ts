// Generates random damage to the structure of a segment, for fuzz tests.
import fc from 'fast-check';
import { crc32 } from 'node:zlib';
import { HEADER, MUTABLE_OFFSET, PAGE, RECORD, RECORD_SIZE } from '#app/native/segment/layout.js';
import type { HeapSegment } from './heap-memory.js';
import { SAMPLE, SAMPLE_AT, SAMPLE_BYTES } from './sample-segment.js';

type Damage = (segment: HeapSegment) => void;

/**
 * Damage to a segment. It happens just before the read with the number `moment`; 0: before the segment is
 * opened.
 */
export interface Mutation {
  readonly moment: number;
  readonly damage: Damage;
  readonly toString: () => string;
}

const directoryEnd = SAMPLE_AT.directory + SAMPLE.records * RECORD_SIZE;
/** Offsets of bytes in use, and sometimes of any byte. */
const place = fc.oneof(
  { weight: 2, arbitrary: fc.integer({ min: 0, max: HEADER.size - 1 }) },
  { weight: 2, arbitrary: fc.nat(7).map((word) => MUTABLE_OFFSET + word * 64) },
  { weight: 5, arbitrary: fc.integer({ min: SAMPLE_AT.directory, max: directoryEnd - 1 }) },
  { weight: 2, arbitrary: fc.nat(300).map((offset) => SAMPLE_AT.strings + offset) },
  { weight: 2, arbitrary: fc.nat(255).map((offset) => SAMPLE_AT.frames + offset) },
  { weight: 1, arbitrary: fc.nat(SAMPLE_BYTES - 1) },
);
const number = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, 8n, 0x7fffffffn, 0xffffffffn, 1n << 32n, 1n << 53n, (1n << 64n) - 1n),
  fc.bigInt(0n, 40n),
);

const named = (what: string, damage: Damage) => [what, damage] as const;

const damage: fc.Arbitrary<readonly [string, Damage]> = fc.oneof(
  fc.tuple(place, fc.nat(7)).map(([at, bit]) =>
    named(`turn bit ${bit} at ${at}`, ({ bytes }) => {
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
    }),
  ),
  fc.tuple(place, number, fc.constantFrom(1, 2, 4, 8)).map(([at, value, width]) =>
    named(`store ${value} in ${width} bytes at ${at - (at % width)}`, ({ bytes }) => {
      const from = Buffer.alloc(8);
      from.writeBigUInt64LE(value);
      from.copy(bytes, at - (at % width), 0, width);
    }),
  ),
  fc
    .tuple(place, place, fc.integer({ min: 1, max: 128 }))
    .map(([from, to, length]) =>
      named(
        `copy ${length} bytes from ${from} to ${to}`,
        ({ bytes }) => void bytes.subarray(from, from + length).copy(bytes, to),
      ),
    ),
  fc
    .tuple(place, fc.uint8Array({ minLength: 1, maxLength: 64 }))
    .map(([at, random]) =>
      named(
        `put ${random.length} random bytes at ${at}`,
        ({ bytes }) => void Buffer.from(random).copy(bytes, at),
      ),
    ),
  fc.tuple(fc.nat(9), fc.nat(9)).map(([from, to]) =>
    named(`copy record ${from} to ${to}`, ({ bytes }) => {
      const at = (index: number) => SAMPLE_AT.directory + index * RECORD_SIZE;
      bytes.subarray(at(from), at(from) + RECORD_SIZE).copy(bytes, at(to));
    }),
  ),
  fc
    .nat(SAMPLE_BYTES)
    .map((length) => named(`cut to ${length} bytes`, (segment) => segment.truncate(length))),
);

/** Corrects CRCs and indexes, so that the segment passes the first checks in spite of the damage. */
function seal({ bytes }: HeapSegment): void {
  if (bytes.length < PAGE) return;
  bytes.writeUInt32LE(crc32(bytes.subarray(0, HEADER.crc)), HEADER.crc);
  for (let index = 0; index < 16; index++) {
    const at = SAMPLE_AT.directory + index * RECORD_SIZE;
    if (at + RECORD_SIZE > bytes.length) return;
    const record = bytes.subarray(at, at + RECORD_SIZE);
    record.writeUInt32LE(index, RECORD.index);
    record.writeUInt32LE(crc32(record.subarray(RECORD.index)), RECORD.crc);
  }
}

export const mutation: fc.Arbitrary<Mutation> = fc
  .tuple(fc.oneof(fc.constant(0), fc.nat(9)), damage, fc.integer({ min: 0, max: 3 }))
  .map(([moment, [what, apply], sealing]) => {
    const isSealed = sealing > 0;
    return {
      moment,
      damage: (segment) => {
        apply(segment);
        if (isSealed) seal(segment);
      },
      toString: () => `before read ${moment}: ${what}${isSealed ? ', CRCs put right' : ''}`,
    };
  });
