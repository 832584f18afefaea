// What a program that unzips makes of the deflated parts of a snapshot.
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import type { Snapshot } from '#app/model.js';
import type { DeflatedText } from '#app/exposition/compress/deflate-stream.js';
import { deflateBlockOf, joined } from '#app/exposition/compress/deflate-stream.js';

/** A whole stream: the end is another block, as the internal metrics of a page are. */
export function unpackedText({ blocks }: DeflatedText): string {
  // Each part follows a line feed: that of a header, or that of the part before it.
  const { buffers, crc, bytes } = joined([deflateBlockOf(Buffer.from('\n')), ...blocks]);
  const text = inflateRawSync(Buffer.concat([...buffers, deflateRawSync(Buffer.alloc(0))]));
  expect({ crc, bytes }).to.deep.equal({ crc: crc32(text), bytes: text.length });
  return text.subarray(1).toString();
}

export function unpacked({ families }: Pick<Snapshot, 'families'>): string {
  const texts = families.flatMap(({ deflated }) => deflated ?? []);
  return unpackedText({ blocks: texts.flatMap(({ blocks }) => blocks) });
}
