// Decompresses the deflate blocks of a snapshot.
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import type { Snapshot } from '#app/model.js';
import { deflateBlockOf, isDeflated, joined } from '#app/exposition/compress/gzip.js';

export function unpacked(snapshot: Snapshot): string {
  const blocks = (snapshot.lines('deflated') ?? []).filter(isDeflated);
  // The first match in a block refers to the line feed before the block, so put one before the first block,
  // too.
  const { buffers, crc, bytes } = joined([deflateBlockOf(Buffer.from('\n')), ...blocks]);
  const text = inflateRawSync(Buffer.concat([...buffers, deflateRawSync(Buffer.alloc(0))]));
  expect({ crc, bytes }).to.deep.equal({ crc: crc32(text), bytes: text.length });
  return text.subarray(1).toString();
}
