// Writes a frame: a value of several 8-byte units, in private memory or in a segment. The counterpart of
// ../segment/frame-reader.ts.
import { arch } from 'node:os';

/** Memory with frames, and with the slots that count their updates: as 8-byte units, and as the halves of the units. */
export interface FrameMemory {
  readonly frames: BigUint64Array;
  readonly frameHalves: Uint32Array;
  readonly frameFloats: Float64Array;
  /** The slots. */
  readonly u64: BigUint64Array;
  readonly slotHalves: Uint32Array;
}

/** The position of a frame, in 8-byte units. */
export interface FrameRegion {
  readonly offset: number;
  readonly length: number;
}

/** Units of the payload of a histogram: the sum, then a count for each bucket. */
export const HISTOGRAM = { sum: 0, counts: 1 };
/** Units of the payload of a summary: the count, the sum, then a value for each quantile. */
export const SUMMARY = { count: 0, sum: 1, values: 2 };

/** The memory of an array, as 4-byte halves of its elements. */
export const halvesOf = ({ buffer, byteOffset, length }: BigUint64Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, length * 2);

/**
 * Stores half of a count, before all later stores and after all earlier ones. On x86-64, plain stores have that order,
 * and take a tenth of the time. On other processors an exchange has it, unlike an atomic store, which later stores may
 * overtake.
 */
const storeHalf: (halves: Uint32Array, index: number, half: number) => void =
  arch() === 'x64'
    ? (halves, index, half) => {
        halves[index] = half;
      }
    : (halves, index, half) => {
        Atomics.exchange(halves, index, half);
      };

/**
 * Writes one frame. Its methods take units from the start of the payload. An update is `begin()`, stores to the
 * payload, and `end()`, in the order of docs/segment-format.md. Counts are stored as 4-byte halves, since each BigInt
 * would be an allocation.
 */
export class FrameWriter {
  readonly region: FrameRegion;
  readonly #memory: FrameMemory;
  readonly #first: number;
  readonly #last: number;
  readonly #slot: number;
  #updates: number;

  constructor(memory: FrameMemory, region: FrameRegion, slot: number) {
    const { offset, length } = region;
    this.#memory = memory;
    this.region = region;
    this.#first = offset;
    this.#last = offset + length - 1;
    this.#slot = slot;
    this.#updates = Number(memory.frames[offset] ?? 0n);
  }

  /** A frame in private memory, with a payload of zeros. */
  static own(payload: number): FrameWriter {
    const frames = new BigUint64Array(payload + 2);
    const u64 = new BigUint64Array(1);
    const frameFloats = new Float64Array(frames.buffer);
    const halves = { frameHalves: halvesOf(frames), slotHalves: halvesOf(u64) };
    const region = { offset: 0, length: payload + 2 };
    return new FrameWriter({ frames, frameFloats, u64, ...halves }, region, 0);
  }

  begin(): void {
    this.#updates++;
    this.#storeCount(this.#memory.frames, this.#memory.frameHalves, this.#last);
  }

  end(): void {
    const { frames, frameHalves, u64, slotHalves } = this.#memory;
    this.#storeCount(frames, frameHalves, this.#first);
    this.#storeCount(u64, slotHalves, this.#slot);
  }

  /** Adds 1 to a count of the payload. */
  countUp(unit: number): void {
    const { frames, frameHalves } = this.#memory;
    const at = this.#first + 1 + unit;
    const low = ((frameHalves[2 * at] ?? 0) + 1) >>> 0;
    if (low === 0) frames[at] = (frames[at] ?? 0n) + 1n;
    else frameHalves[2 * at] = low;
  }

  count(unit: number): number {
    return Number(this.#memory.frames[this.#first + 1 + unit] ?? 0n);
  }

  setCounts(unit: number, counts: readonly bigint[]): void {
    this.#memory.frames.set(counts, this.#first + 1 + unit);
  }

  addFloat(unit: number, amount: number): void {
    const { frameFloats } = this.#memory;
    const at = this.#first + 1 + unit;
    frameFloats[at] = (frameFloats[at] ?? 0) + amount;
  }

  setFloat(unit: number, value: number): void {
    this.#memory.frameFloats[this.#first + 1 + unit] = value;
  }

  setFloats(unit: number, values: readonly number[]): void {
    this.#memory.frameFloats.set(values, this.#first + 1 + unit);
  }

  float(unit: number): number {
    return this.#memory.frameFloats[this.#first + 1 + unit] ?? 0;
  }

  /** Sets the payload to zeros. */
  clear(): void {
    this.#memory.frames.fill(0n, this.#first + 1, this.#last);
  }

  /** Copies the payload into private memory. */
  copy(): FrameWriter {
    const { frames } = this.#memory;
    const own = FrameWriter.own(this.#last - this.#first - 1);
    own.#memory.frames.set(frames.subarray(this.#first + 1, this.#last), 1);
    return own;
  }

  /** Stores the number of updates. Once in 2^32 updates, it needs all 8 bytes. */
  #storeCount(units: BigUint64Array, halves: Uint32Array, at: number): void {
    const low = this.#updates >>> 0;
    if (low === 0) Atomics.store(units, at, BigInt(this.#updates));
    else storeHalf(halves, 2 * at, low);
  }
}
