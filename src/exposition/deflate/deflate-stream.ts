// Deflate streams from ready parts: bits are joined, nothing is compressed again. RFC 1951.
import { crc32, inflateRawSync } from 'node:zlib';
import type { Deflated, DeflatedPart } from '../../model.js';
import { finishedCrc, innerCrc, shiftedCrc } from './crc.js';
import { DeflateCode, LONGEST_CODE } from './deflate-code.js';
import { BitWriter, wordsFor } from './bit-writer.js';

/** An empty block, marked as the last: with fixed codes, only the end of the block. */
const END_OF_STREAM = Buffer.from([3, 0]);

/** Codes by their lengths, which a snapshot shares with those after it. */
const codes = new WeakMap<readonly number[], DeflateCode>();

export function codeOf(lengths: readonly number[]): DeflateCode {
  const code = codes.get(lengths) ?? new DeflateCode(lengths);
  codes.set(lengths, code);
  return code;
}

/** Any text, in that code: a header, mostly. Where it repeats itself, it refers to that. */
export function deflatedText(text: Uint8Array, code: DeflateCode): DeflatedPart {
  const writer = new BitWriter(new Uint32Array(wordsFor(text.length * LONGEST_CODE)));
  const seen = new Map<number, number>();
  for (let at = 0; at < text.length;) {
    const start = seen.get(wordAt(text, at)) ?? -1;
    let length = 0;
    if (start >= 0) while (length < 258 && text[at + length] === text[start + length]) length++;
    const isRepeated = length >= 4 && at + length <= text.length;
    if (isRepeated) for (const bits of code.reference(length, at - start)) writer.put(bits);
    else writer.put(code.literal(text[at] ?? 0));
    for (const end = at + (isRepeated ? length : 1); at < end; at++) seen.set(wordAt(text, at), at);
  }
  const { bits } = writer;
  const crc = innerCrc(crc32(text), text.length);
  return { data: writer.bytes(), bits, crc, bytes: text.length };
}

const wordAt = (text: Uint8Array, at: number): number =>
  ((text[at] ?? 0) << 24) |
  ((text[at + 1] ?? 0) << 16) |
  ((text[at + 2] ?? 0) << 8) |
  (text[at + 3] ?? 0);

const LINE_FEED = Buffer.from('\n');

/** The text of some parts. */
export function inflated(parts: readonly DeflatedPart[], code: DeflateCode): Uint8Array {
  const { pieces } = joined([deflatedText(LINE_FEED, code), ...parts], code);
  return inflateRawSync(Buffer.concat([...pieces, END_OF_STREAM])).subarray(1);
}

/** The end of a block, and an empty one that is stored. */
const END_BITS = 15 + 3 + 7 + 32;

/**
 * Joins parts of one code, in their order.
 * @param memoryFor gives memory of at least that many words
 */
export function joined(
  parts: readonly DeflatedPart[],
  code: DeflateCode,
  memoryFor: (words: number) => Uint32Array = (words) => new Uint32Array(words),
): Deflated {
  const headBits = code.head.reduce((sum, [, count]) => sum + count, 0);
  const bits = parts.reduce((sum, part) => sum + part.bits, headBits);
  const writer = new BitWriter(memoryFor(wordsFor(bits + END_BITS)));
  for (const each of code.head) writer.put(each);
  let [crc, bytes] = [0, 0];
  for (const part of parts) {
    writer.append(part.data, part.bits);
    crc = shiftedCrc(crc, part.bytes) ^ part.crc;
    bytes += part.bytes;
  }
  writer.put(code.endOfBlock);
  writer.align();
  return { pieces: [writer.bytes()], crc: finishedCrc(crc, bytes), bytes };
}
