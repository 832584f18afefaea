import { expect } from 'chai';
import { deflateSync, inflateSync } from 'node:zlib';
import { chunksOf, pixelsOf } from './png-pixels.js';
import { smallPng } from './small-png.js';

const [WIDTH, HEIGHT] = [4, 5];
const LENGTH = WIDTH * 3;
/** Pixels with some repeated bytes, so that the Paeth filter selects each of the three neighbours somewhere. */
const BYTES = Buffer.from(Array.from({ length: LENGTH * HEIGHT }, (_, i) => (i * i * 7) % 251));
const byte = (row: number, x: number): number =>
  row < 0 || x < 0 ? 0 : (BYTES[row * LENGTH + x] ?? 0);

/** PNG's five filters: they predict a byte from its left, upper and upper left neighbours. */
const GUESSES: readonly ((left: number, up: number, corner: number) => number)[] = [
  () => 0,
  (left) => left,
  (_, up) => up,
  (left, up) => Math.floor((left + up) / 2),
  (left, up, corner) => {
    const wanted = left + up - corner;
    const near = [left, up, corner].map((each) => Math.abs(wanted - each));
    return [left, up, corner][near.indexOf(Math.min(...near))] ?? 0;
  },
];

/** Returns a PNG in which each row has a different filter. Checksums are 0, because nothing reads them. */
function png(): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([8, 2], 8);
  const rows = GUESSES.map((guess, row) => {
    const differences = Array.from({ length: LENGTH }, (_, x) => {
      const [left, up, corner] = [byte(row, x - 3), byte(row - 1, x), byte(row - 1, x - 3)];
      return (byte(row, x) - guess(left, up, corner)) & 255;
    });
    return Buffer.from([row, ...differences]);
  });
  const chunks = [
    ['IHDR', header],
    ['IDAT', deflateSync(Buffer.concat(rows))],
  ] as const;
  const parts = chunks.flatMap(([type, data]) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return [length, Buffer.from(type), data, Buffer.alloc(4)];
  });
  return Buffer.concat([Buffer.alloc(8), ...parts]);
}

describe('smallPng', () => {
  it('reads the pixels of rows with each of the five PNG filters', () => {
    expect(pixelsOf(png())).to.deep.equal({ width: WIDTH, height: HEIGHT, bytes: BYTES });
  });

  it('keeps the colour of every pixel of a picture with few colours', () => {
    const chunks = chunksOf(smallPng(png()));
    const [palette = Buffer.alloc(0)] = chunks.get('PLTE') ?? [];
    const rows = inflateSync(chunks.get('IDAT')?.[0] ?? Buffer.alloc(0));
    const pixels = Array.from({ length: WIDTH * HEIGHT }, (_, i) => {
      const number = rows[i + Math.floor(i / WIDTH) + 1] ?? 0;
      return palette.subarray(number * 3, number * 3 + 3);
    });
    expect(Buffer.concat(pixels)).to.deep.equal(BYTES);
  });
});
