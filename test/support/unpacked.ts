// What a program that unzips makes of the deflated parts of a snapshot.
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import type { DeflatedPart, Snapshot } from '#app/model.js';
import { codeOf, deflatedText, joined } from '#app/exposition/compress/deflate-stream.js';

/** A whole stream: the end is another block, as the internal metrics of a page are. */
export function unpackedParts(parts: readonly DeflatedPart[], lengths: readonly number[]): string {
  const code = codeOf(lengths);
  // Each part follows a line feed: that of a header, or that of the part before it.
  const { pieces, crc, bytes } = joined([deflatedText(Buffer.from('\n'), code), ...parts], code);
  const text = inflateRawSync(Buffer.concat([...pieces, deflateRawSync(Buffer.alloc(0))]));
  expect({ crc, bytes }).to.deep.equal({ crc: crc32(text), bytes: text.length });
  return text.subarray(1).toString();
}

export const unpacked = ({ families, code = [] }: Pick<Snapshot, 'families' | 'code'>): string =>
  unpackedParts(
    families.flatMap(({ deflated = [] }) => deflated),
    code,
  );
