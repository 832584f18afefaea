// Joins deflate blocks without compressing them again, and decompresses them. RFC 1951.
import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { joinSmall } from '../../bytes.js';
import type { Piece } from '../../model.js';
import { finalCrc, shiftedCrc } from './crc.js';

/** An empty last block with fixed codes: it has only its end-of-block symbol. */
const END_OF_STREAM = Buffer.from([3, 0]);

/**
 * A deflate block: a piece in the form `deflated`, or a header. Lines need a line feed before them in the stream, since
 * their first match refers to it.
 */
export type DeflateBlock = Pick<Piece, 'data' | 'bytes' | 'crc'>;

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
  return { data, crc: finalCrc(crc32(text), text.length), bytes: text.length };
}

const LINE_FEED = Buffer.from('\n');

/** Decompresses a piece. */
export function inflated(piece: Piece): Piece {
  const { buffers } = joined([deflateBlockOf(LINE_FEED), piece]);
  const text = inflateRawSync(Buffer.concat([...buffers, END_OF_STREAM]));
  return { ...piece, data: text.subarray(LINE_FEED.length), crc: 0 };
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
