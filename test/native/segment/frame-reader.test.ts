// Tests copies of a frame that changes while it is copied.
import { expect } from 'chai';
import { Budget } from '#app/budget.js';
import { FrameReader } from '#app/native/segment/frame-reader.js';

/** A histogram with one bound takes five 8-byte units: end, sum, two counts, begin. */
const UNITS = 5;

/**
 * Creates a reader of a file. The reads of the file return the given frames in turn, and the last frame
 * from then on.
 */
const readerOf = (frames: readonly (readonly number[])[]) => {
  let reads = 0;
  const file = {
    identity: '1',
    ownership: { uid: 0, isWritableByAll: false },
    read: (into: Uint8Array, length: number, position: number) => {
      const [end = 0, sum = 0, ...rest] = frames[Math.min(reads++, frames.length - 1)] ?? [];
      const bytes = Buffer.alloc(UNITS * 8);
      bytes.writeBigUInt64LE(BigInt(end), 0);
      bytes.writeDoubleLE(sum, 8);
      rest.forEach((unit, index) => bytes.writeBigUInt64LE(BigInt(unit), 16 + index * 8));
      into.set(bytes.subarray(position, position + length));
      return length;
    },
    size: () => UNITS * 8,
    nameState: () => 'kept' as const,
    askLock: () => undefined,
    wait: () => () => undefined,
    close: () => undefined,
  };
  return new FrameReader(file, 0);
};

const HISTOGRAM = [
  { frameOffset: 0, frameWords: UNITS },
  { type: 'histogram', schema: [1] },
] as const;

describe('A frame reader', () => {
  // Updates 4 and 6 have the sum 1, update 5 has the sum 2. Both torn copies combine the counts of update 5
  // with the sum of another update: the first reads the sum too early, the second too late.
  const torn = [5, 1, 20, 20, 5];
  const whole = [6, 1, 30, 30, 6];

  it('rejects two equal copies that a later copy contradicts', () => {
    const frame = readerOf([torn, torn, whole]).read(...HISTOGRAM);
    expect(frame).to.deep.equal({ type: 'histogram', sum: 1, counts: BigUint64Array.of(30n, 30n) });
  });

  it('gives up after a bounded number of copies', () => {
    const frames = Array.from({ length: 100 }, (_, n) => [n + 1, n, n, n, n + 1]);
    expect(readerOf(frames).read(...HISTOGRAM)).to.equal(undefined);
  });

  it('reads no more bytes, and takes no more steps, than its budget allows', () => {
    const size = UNITS * 8;
    const changing = Array.from({ length: 100 }, (_, n) => [n + 1, n, n, n, n + 1]);
    const table = [
      ['both copies', [whole], { bytes: 2 * size }, true, 2 * size],
      ['an unfinished update', [[5, 1, 2, 3, 6]], { bytes: 99, steps: 9 }, false, 2 * size],
      ['a budget that is spent', [whole], { bytes: 0 }, false, 0],
      ['2 steps', changing, { steps: 2 }, false, 4 * size],
      ['bytes for 4 copies', changing, { bytes: 4 * size }, false, 4 * size],
    ] as const;
    for (const [what, frames, limits, isRead, bytes] of table) {
      const budget = new Budget(limits);
      const frame = readerOf(frames).read(...HISTOGRAM, budget);
      expect(frame !== undefined, what).to.equal(isRead);
      expect(budget.bytes, what).to.equal(bytes);
    }
  });
});
