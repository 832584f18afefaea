// Reduces a PNG to 256 colours. The file is half as large, and the pages have hardly more colours than that.
import { crc32, deflateSync } from 'node:zlib';
import { pixelsOf } from './png-pixels.js';

const COLOURS = 256;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The header fields for 8 bits per pixel, which are the index of a colour. */
const INDEXED = [8, 3, 0, 0, 0];

/** Returns the picture with its most frequent colours. Every other colour becomes the nearest one of them. */
export function smallPng(png: Buffer): Buffer {
  const { width, height, bytes } = pixelsOf(png);
  const colours = Array.from({ length: width * height }, (_, i) => bytes.readUIntBE(i * 3, 3));
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const sorted = [...counts.keys()].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const palette = sorted.slice(0, COLOURS);
  const numbers = new Map(sorted.map((colour) => [colour, nearest(palette, colour)]));
  // Each row begins with the filter 0: its bytes are stored without prediction.
  const rows = Buffer.alloc((width + 1) * height);
  for (const [i, colour] of colours.entries())
    rows[i + Math.floor(i / width) + 1] = numbers.get(colour) ?? 0;
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', Buffer.concat([size, Buffer.from(INDEXED)])),
    chunk('PLTE', Buffer.from(palette.flatMap(channels))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const channels = (colour: number): [number, number, number] => [
  colour >> 16,
  (colour >> 8) & 255,
  colour & 255,
];

/** Returns the index of the nearest colour. */
function nearest(palette: readonly number[], colour: number): number {
  const exact = palette.indexOf(colour);
  if (exact >= 0) return exact;
  const own = channels(colour);
  const distances = palette.map((each) =>
    channels(each).reduce((sum, value, i) => sum + (value - (own[i] ?? 0)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
