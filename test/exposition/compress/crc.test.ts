// Tests a text's CRC-32, which is combined from the CRCs of the text's parts, against zlib.
import { expect } from 'chai';
import fc from 'fast-check';
import { crc32 } from 'node:zlib';
import { joinedCrc, shiftedCrc } from '#app/exposition/compress/crc.js';

describe('a CRC-32 combined from parts', () => {
  it('equals the CRC-32 of the whole text', () =>
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 5000 })), (parts) => {
        let crc = 0;
        for (const part of parts) crc = joinedCrc(crc, crc32(part), part.length);
        expect(crc).to.equal(crc32(Buffer.concat(parts)));
      }),
    ));

  it('is correct for lengths of gigabytes', () => {
    const text = Buffer.alloc(17 * 2 ** 20, 'text');
    expect(joinedCrc(crc32('before'), crc32(text), text.length)).to.equal(
      crc32(text, crc32('before')),
    );
    // Shifting a CRC by 2n bytes equals shifting it twice by n bytes.
    const half = shiftedCrc(1, 2 ** 31 - 1);
    expect(shiftedCrc(half, 2 ** 31 - 1)).to.equal(shiftedCrc(1, 2 ** 32 - 2));
  });
});
