// Tests the CRC of records against zlib.
import { expect } from 'chai';
import fc from 'fast-check';
import { crc32 } from 'node:zlib';
import { RECORD, RECORD_SIZE, RECORD_WORDS } from '#app/native/segment/layout.js';
import { recordCrc } from '#app/native/segment/record-parser.js';

describe('The CRC of a record', () => {
  it('is the CRC-32, as zlib computes it, of the bytes after the CRC', () => {
    const bytes = fc.uint8Array({ minLength: RECORD_SIZE, maxLength: RECORD_SIZE });
    fc.assert(
      fc.property(bytes, fc.nat({ max: 3 }), (record, before) => {
        const records = new Uint8Array((before + 1) * RECORD_SIZE);
        records.set(record, before * RECORD_SIZE);
        const words = new Uint32Array(records.buffer);
        const crc = crc32(record.subarray(RECORD.index));
        expect(recordCrc(words, before * RECORD_WORDS)).to.equal(crc);
      }),
    );
  });
});
