// Reads the pixels of a PNG as Chromium writes it, with 8 bits each for red, green and blue.
import { inflateSync } from 'node:zlib';

const SIGNATURE_BYTES = 8;
/** The bytes of a chunk besides its data: length and type before it, a checksum after it. */
const AROUND_BYTES = 12;
const CHANNELS = 3;
const RGB = Buffer.from([8, 2, 0, 0, 0]);

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Three bytes per pixel, row by row. */
  readonly bytes: Buffer;
}

/** @throws Error if the PNG has another pixel format, such as one with transparency */
export function pixelsOf(png: Buffer): Pixels {
  const chunks = chunksOf(png);
  const [header = Buffer.alloc(0)] = chunks.get('IHDR') ?? [];
  if (!header.subarray(8).equals(RGB)) throw new Error('This PNG is not in red, green and blue');
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const rows = inflateSync(Buffer.concat(chunks.get('IDAT') ?? []));
  const bytes = Buffer.alloc(width * height * CHANNELS);
  for (let row = 0; row < height; row++) restore(rows, bytes, row, width * CHANNELS);
  return { width, height, bytes };
}

export function chunksOf(png: Buffer): Map<string, Buffer[]> {
  const chunks = new Map<string, Buffer[]>();
  for (let at = SIGNATURE_BYTES; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    chunks.set(type, [...(chunks.get(type) ?? []), png.subarray(at + 8, at + 8 + length)]);
    at += length + AROUND_BYTES;
  }
  return chunks;
}

/**
 * Decodes a row. It holds differences from a prediction, and its first byte says which neighbours predict a
 * byte.
 */
function restore(rows: Buffer, bytes: Buffer, row: number, length: number): void {
  const from = row * (length + 1);
  const to = row * length;
  const filter = rows[from] ?? 0;
  for (let x = 0; x < length; x++) {
    const left = x < CHANNELS ? 0 : (bytes[to + x - CHANNELS] ?? 0);
    const up = row === 0 ? 0 : (bytes[to + x - length] ?? 0);
    const corner = x < CHANNELS || row === 0 ? 0 : (bytes[to + x - length - CHANNELS] ?? 0);
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
    bytes[to + x] = (rows[from + 1 + x] ?? 0) + guess;
  }
}

/** Returns the neighbour that is nearest to left + up - corner. */
function paeth(left: number, up: number, corner: number): number {
  const [byLeft, byUp] = [Math.abs(up - corner), Math.abs(left - corner)];
  const byCorner = Math.abs(left + up - 2 * corner);
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}
