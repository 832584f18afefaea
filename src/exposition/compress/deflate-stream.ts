// Joins parts of deflate streams bit by bit, without compressing them again. RFC 1951.
import { crc32, inflateRawSync } from 'node:zlib';
import { finishedCrc, innerCrc, shiftedCrc } from './crc.js';
import { DeflateCode, LONGEST_CODE } from './deflate-code.js';
import { BitWriter, wordsFor } from './huffman.js';
import type { CodeLengths } from './huffman.js';
import { memoize } from '../memoize.js';

/** An empty block, marked as the last: with fixed codes, only the end of the block. */
const END_OF_STREAM = Buffer.from([3, 0]);

/** Lines as a part of a deflate stream. A line feed must come before them, since they refer to it. */
export interface DeflatedPart {
  /** A block of the stream with its head, which ends at a byte. One word beyond it can be read. */
  readonly data: Uint8Array;
  /** The number of bits of the lines, between the head and the end of the block. */
  readonly bits: number;
  /** Inner CRC and number of bytes of the lines. */
  readonly crc: number;
  readonly bytes: number;
}

/** Parts that follow each other, and their code. */
export interface DeflatedText {
  readonly parts: readonly DeflatedPart[];
  readonly code: DeflateCode;
}

/** Texts of one code as plain numbers, for a thread that shares their memory. */
export interface DeflatedAddresses {
  readonly code: CodeLengths;
  /** For each part: index of its text, address, length, bits, CRC and bytes, as in a `DeflatedPart`. */
  readonly parts: Uint32Array<ArrayBuffer>;
}

/** A deflate stream without its end, so that other blocks can follow. */
export interface Deflated {
  /** Whole blocks, aligned to a byte; none is marked as the last. */
  readonly pieces: readonly Uint8Array[];
  /** CRC-32 and length of the uncompressed bytes. */
  readonly crc: number;
  readonly bytes: number;
}

/** Parts of fewer bytes share a block, since the head of a block has some 90 bytes. */
const SMALL = 4096;

/** Compresses a short text, such as a header. Repeated words become references. */
export function deflatedText(text: Uint8Array, code: DeflateCode): DeflatedPart {
  const most = code.headBits + text.length * LONGEST_CODE + END_BITS;
  const writer = new BitWriter(new Uint32Array(wordsFor(most)));
  for (const each of code.head) writer.put(each);
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
  const bits = writer.bits - code.headBits;
  const crc = innerCrc(crc32(text), text.length);
  writer.put(code.endOfBlock);
  writer.align();
  return { data: writer.bytes(), bits, crc, bytes: text.length };
}

const wordAt = (text: Uint8Array, at: number): number =>
  ((text[at] ?? 0) << 24) |
  ((text[at + 1] ?? 0) << 16) |
  ((text[at + 2] ?? 0) << 8) |
  (text[at + 3] ?? 0);

const LINE_FEED = Buffer.from('\n');

/** Returns the text of some parts. */
export function inflated({ parts, code }: DeflatedText): Uint8Array {
  const { pieces } = joined({ parts: [deflatedText(LINE_FEED, code), ...parts], code });
  return inflateRawSync(Buffer.concat([...pieces, END_OF_STREAM])).subarray(1);
}

/** The most bits of the end of a block, and of an empty stored block. */
const END_BITS = 15 + 3 + 7 + 32;

/** The parts of headers, by code: codes seldom change. */
const headersIn = memoize((code: DeflateCode) =>
  memoize(({ text }: Header) => deflatedText(Buffer.from(text), code)),
);

/** Joins families whose lines have one code, each below its header. */
export function deflatedFamilies(
  families: readonly DeflatedFamilyText[],
  headers: readonly Header[],
): Deflated {
  const code = families[0]?.deflated?.code;
  if (code === undefined) return { pieces: [], crc: 0, bytes: 0 };
  const deflatedHeader = headersIn(code);
  const parts: DeflatedPart[] = [];
  families.forEach(({ deflated }, index) => {
    const header = headers[index];
    if (header !== undefined) parts.push(deflatedHeader(header));
    for (const part of deflated?.parts ?? []) parts.push(part);
  });
  return joined({ parts, code });
}

interface DeflatedFamilyText {
  readonly deflated?: DeflatedText | undefined;
}

interface Header {
  readonly text: string;
}

/** The addresses of the lines of some families; undefined if there are no families. */
export function deflatedAddresses(
  families: readonly DeflatedFamilyText[],
): DeflatedAddresses | undefined {
  const code = families[0]?.deflated?.code.lengths;
  const parts: number[] = [];
  families.forEach(({ deflated }, index) => {
    for (const { data, bits, crc, bytes } of deflated?.parts ?? [])
      parts.push(index, data.byteOffset, data.length, bits, crc, bytes);
  });
  return code && { code, parts: Uint32Array.from(parts) };
}

/**
 * Makes `count` texts of their addresses in a memory.
 * @param last the code of former texts: the new texts share it if its lengths are the same
 */
export function deflatedTextsAt(
  { code: lengths, parts: numbers }: DeflatedAddresses,
  memory: ArrayBufferLike,
  count: number,
  last: DeflateCode | undefined,
): readonly DeflatedText[] {
  const isSame = last !== undefined && String(last.lengths) === String(lengths);
  const code = isSame ? last : new DeflateCode(lengths);
  const lists = Array.from({ length: count }, (): DeflatedPart[] => []);
  for (let i = 0; i < numbers.length; i += 6) {
    const [index = 0, at, length, bits = 0, crc = 0, bytes = 0] = numbers.subarray(i, i + 6);
    lists[index]?.push({ data: Buffer.from(memory, at, length), bits, crc, bytes });
  }
  return lists.map((parts) => ({ parts, code }));
}

/** Joins parts in their order. Large ones stay as they are; runs of small ones become one block. */
export function joined({ parts, code }: DeflatedText): Deflated {
  const runs = runsOf(parts);
  let words = 0;
  for (const run of runs) if (Array.isArray(run)) words += wordsOf(run, code);
  const memory = new Uint32Array(words);
  const pieces: Uint8Array[] = [];
  let used = 0;
  for (const run of runs) {
    if (!Array.isArray(run)) {
      pieces.push(run.data);
      continue;
    }
    const end = used + wordsOf(run, code);
    pieces.push(blockOf(run, code, memory.subarray(used, end)));
    used = end;
  }
  let [crc, bytes] = [0, 0];
  for (const part of parts) {
    crc = shiftedCrc(crc, part.bytes) ^ part.crc;
    bytes += part.bytes;
  }
  return { pieces, crc: finishedCrc(crc, bytes), bytes };
}

/** Large parts, and the small parts between them: one part, or a run of several. */
function runsOf(parts: readonly DeflatedPart[]): readonly (DeflatedPart | DeflatedPart[])[] {
  const runs: (DeflatedPart | DeflatedPart[])[] = [];
  let wasSmall = false;
  for (const part of parts) {
    const last = runs[runs.length - 1];
    const isSmall = part.data.length < SMALL;
    if (!isSmall || !wasSmall || last === undefined) runs.push(part);
    else if (Array.isArray(last)) last.push(part);
    else runs[runs.length - 1] = [last, part];
    wasSmall = isSmall;
  }
  return runs;
}

const wordsOf = (run: readonly DeflatedPart[], code: DeflateCode): number =>
  wordsFor(run.reduce((sum, { bits }) => sum + bits, code.headBits + END_BITS));

function blockOf(run: readonly DeflatedPart[], code: DeflateCode, memory: Uint32Array): Uint8Array {
  const writer = new BitWriter(memory);
  for (const each of code.head) writer.put(each);
  for (const { data, bits } of run) writer.append(data, code.headBits, bits);
  writer.put(code.endOfBlock);
  writer.align();
  return writer.bytes();
}
