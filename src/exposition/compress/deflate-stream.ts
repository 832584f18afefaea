// Joins deflate blocks without compressing them again. RFC 1951.
import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { joinSmall } from '../../bytes.js';
import { finalCrc, rawCrc, shiftedCrc } from './crc.js';
import { memoize } from '../memoize.js';

/** An empty last block with fixed codes: it has only its end-of-block symbol. */
const END_OF_STREAM = Buffer.from([3, 0]);

/** A deflate block of lines. A line feed must precede the lines in the stream, since their first match refers to it. */
export interface DeflateBlock {
  /** The block with its header, aligned to a byte. */
  readonly data: Uint8Array;
  /** Raw CRC and length of the lines. */
  readonly crc: number;
  readonly bytes: number;
}

/** A deflate stream without its end, so that other blocks can follow. */
export interface DeflateStream {
  /** Whole blocks, aligned to a byte; none is marked as the last. */
  readonly buffers: readonly Uint8Array[];
  /** CRC-32 and length of the uncompressed bytes. */
  readonly crc: number;
  readonly bytes: number;
}

/** Blocks smaller than this are copied into one buffer, since small writes cost more than the copy. */
const SMALL = 4096;

/** Options that make zlib allocate little memory: for a header, a larger allocation would take most of the time. */
const HEADER_OPTIONS = {
  finishFlush: constants.Z_SYNC_FLUSH,
  windowBits: 12,
  memLevel: 4,
  chunkSize: 4096,
};

/** Compresses a short text, such as a header. */
export function deflateBlockOf(text: Uint8Array): DeflateBlock {
  const data = deflateRawSync(text, HEADER_OPTIONS);
  return { data, crc: rawCrc(crc32(text), text.length), bytes: text.length };
}

const LINE_FEED = Buffer.from('\n');

/** Decompresses blocks. */
export function inflated(blocks: readonly DeflateBlock[]): Uint8Array {
  const { buffers } = joined([deflateBlockOf(LINE_FEED), ...blocks]);
  return inflateRawSync(Buffer.concat([...buffers, END_OF_STREAM])).subarray(1);
}

const deflatedHeader = memoize(({ text }: Header) => deflateBlockOf(Buffer.from(text)));

/** Joins the blocks of families. The header of each family comes before its blocks. */
export function deflatedFamilies(
  families: readonly DeflatedFamily[],
  headers: readonly Header[],
): DeflateStream {
  const blocks: DeflateBlock[] = [];
  families.forEach(({ deflateBlocks }, index) => {
    const header = headers[index];
    if (header !== undefined) blocks.push(deflatedHeader(header));
    for (const block of deflateBlocks ?? []) blocks.push(block);
  });
  return joined(blocks);
}

interface DeflatedFamily {
  readonly deflateBlocks?: readonly DeflateBlock[] | undefined;
}

interface Header {
  readonly text: string;
}

/**
 * Lists the blocks of families as numbers, for a thread that shares their memory. Each block has five numbers: the index
 * of its family, the address and the length of `data`, `crc` and `bytes`.
 */
export function deflateBlockAddresses(
  families: readonly DeflatedFamily[],
): Uint32Array<ArrayBuffer> {
  const numbers: number[] = [];
  families.forEach(({ deflateBlocks }, index) => {
    for (const { data, crc, bytes } of deflateBlocks ?? [])
      numbers.push(index, data.byteOffset, data.length, crc, bytes);
  });
  return Uint32Array.from(numbers);
}

/** Restores the blocks of `count` families from the result of `deflateBlockAddresses`. */
export function deflateBlocksAt(
  numbers: Uint32Array,
  memory: ArrayBufferLike,
  count: number,
): readonly (readonly DeflateBlock[])[] {
  const lists = Array.from({ length: count }, (): DeflateBlock[] => []);
  for (let i = 0; i < numbers.length; i += 5) {
    const [index = 0, at, length, crc = 0, bytes = 0] = numbers.subarray(i, i + 5);
    lists[index]?.push({ data: Buffer.from(memory, at, length), crc, bytes });
  }
  return lists;
}

/** Joins blocks in order. */
export function joined(blocks: readonly DeflateBlock[]): DeflateStream {
  let [crc, bytes] = [0, 0];
  for (const block of blocks) {
    crc = shiftedCrc(crc, block.bytes) ^ block.crc;
    bytes += block.bytes;
  }
  const buffers = joinSmall(
    blocks.map(({ data }) => data),
    SMALL,
  );
  return { buffers, crc: finalCrc(crc, bytes), bytes };
}
