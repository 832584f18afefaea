// Copies framed values consistently: a value counts only if two copies are equal, `begin` equals `end` in them, and no
// update has begun since.
import { Budget } from '../../budget.js';
import type { Declaration, Frame } from '../../model.js';
import { LIMITS, frameWords } from './layout.js';
import type { SegmentFile } from '../os/shared-memory.js';
import type { FrameLocation } from './object-variables.js';

/** A frame that changes every few microseconds needs many attempts until two copies are equal. */
const ATTEMPTS = 32;
const MAX_BYTES = frameWords('string', LIMITS.textBytes) * 8;

type Declared = Pick<Declaration, 'type' | 'schema'>;

export class FrameReader {
  readonly #file: SegmentFile;
  readonly #frames: number;
  #first = Buffer.allocUnsafe(1024);
  #second = Buffer.allocUnsafe(1024);
  readonly #begin = Buffer.allocUnsafe(8);

  /** @param frames offset of the frames in the file */
  constructor(file: SegmentFile, frames: number) {
    this.#file = file;
    this.#frames = frames;
  }

  /**
   * The value of a framed variable. Undefined if it was never set, is invalid, or changed during all attempts, or if
   * the budget is spent.
   */
  read(
    { frameOffset, frameWords: words }: FrameLocation,
    declared: Declared,
    budget = new Budget(),
  ): Frame | undefined {
    const length = words * 8;
    if (length === 0 || length > MAX_BYTES) return undefined;
    if (length > this.#first.length) {
      this.#first = Buffer.allocUnsafe(length);
      this.#second = Buffer.allocUnsafe(length);
    }
    const at = this.#frames + frameOffset * 8;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (budget.isSpent) return undefined;
      const isFirst = attempt === 0;
      budget.spend(isFirst ? 0 : 1, isFirst ? 2 * length : length);
      if (isFirst && this.#file.read(this.#first, length, at) < length) return undefined;
      if (this.#file.read(this.#second, length, at) < length) return undefined;
      const isSame = this.#first.compare(this.#second, 0, length, 0, length) === 0;
      [this.#first, this.#second] = [this.#second, this.#first];
      const isClosed = this.#first.compare(this.#first, 0, 8, length - 8, length) === 0;
      // The publisher has stopped in the middle of an update, perhaps forever.
      if (isSame && !isClosed) return undefined;
      if (isSame && this.#isUnchanged(at, length)) return decode(this.#first, length, declared);
    }
    return undefined;
  }

  /**
   * Whether `begin` still has the value of the copies. Then no further update began before this check. The last
   * update was complete before the second copy started, since the first copy already has the matching `end`. So no
   * update ran during the second copy: this copy is consistent, in whatever order its bytes were read.
   */
  #isUnchanged(at: number, length: number): boolean {
    const read = this.#file.read(this.#begin, 8, at + length - 8);
    return read === 8 && this.#begin.compare(this.#first, 0, 8) === 0;
  }
}

function decode(bytes: Buffer, length: number, { type, schema }: Declared): Frame | undefined {
  if (bytes.readBigUInt64LE(0) === 0n) return undefined;
  if (type === 'string') {
    const textBytes = bytes.readBigUInt64LE(8);
    if (textBytes > BigInt(length - 24)) return undefined;
    return { type: 'string', text: bytes.toString('utf8', 16, 16 + Number(textBytes)) };
  }
  const size = schema.length;
  if (type === 'histogram') {
    const counts = BigUint64Array.from({ length: size + 1 }, (_, i) =>
      bytes.readBigUInt64LE(16 + i * 8),
    );
    return { type: 'histogram', sum: bytes.readDoubleLE(8), counts };
  }
  const values = Float64Array.from({ length: size }, (_, i) => bytes.readDoubleLE(24 + i * 8));
  return {
    type: 'summary',
    count: bytes.readBigUInt64LE(8),
    sum: bytes.readDoubleLE(16),
    values,
  };
}
