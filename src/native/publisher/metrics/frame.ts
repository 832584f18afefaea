// A frame that a histogram or summary updates in place, in private memory or in a segment.
import { arch } from 'node:os';
import { PublishedValue } from '../published-values.js';
import type { PublishedValues, SlotMemory } from '../published-values.js';

/** Memory with frames and the slots that count their updates, by 8-byte units and by their 4-byte halves. */
interface FrameMemory {
  readonly frames: BigUint64Array;
  readonly halves: Uint32Array;
  readonly floats: Float64Array;
  readonly slots: BigUint64Array;
  readonly slotHalves: Uint32Array;
}

const halvesOf = ({ buffer, byteOffset, length }: BigUint64Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, length * 2);

/** The views of a segment's memory. */
const VIEWS = new WeakMap<SlotMemory, FrameMemory>();

function viewsOf(memory: SlotMemory): FrameMemory {
  const { frames, frameFloats, u64 } = memory;
  const known = VIEWS.get(memory);
  if (known?.frames === frames) return known;
  const halves = halvesOf(frames);
  const views = { frames, halves, floats: frameFloats, slots: u64, slotHalves: halvesOf(u64) };
  VIEWS.set(memory, views);
  return views;
}

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
 * Units from the start of the payload: `floats` holds sums and quantiles, `count` counts. One update is `begin()`, the
 * payload, `end()`, the order of docs/segment-format.md. Counts are stored as 4-byte halves, since a BigInt would be an
 * allocation.
 */
export class Frame {
  readonly #memory: FrameMemory;
  readonly #first: number;
  readonly #last: number;
  readonly #slot: number;
  #updates: number;

  private constructor(
    memory: FrameMemory,
    { offset, length }: { readonly offset: number; readonly length: number },
    slot: number,
  ) {
    this.#memory = memory;
    this.#first = offset;
    this.#last = offset + length - 1;
    this.#slot = slot;
    this.#updates = Number(memory.frames[offset] ?? 0n);
  }

  /** A frame in private memory, with a payload of zeros. */
  static own(payload: number): Frame {
    const frames = new BigUint64Array(payload + 2);
    const floats = new Float64Array(frames.buffer);
    const slots = new BigUint64Array(1);
    const views = { halves: halvesOf(frames), slotHalves: halvesOf(slots) };
    const region = { offset: 0, length: payload + 2 };
    return new Frame({ frames, floats, slots, ...views }, region, 0);
  }

  /** The frame of a variable; undefined if the segment had no room for it. */
  static of(variable: PublishedValues['histogram' | 'summary']): Frame | undefined {
    const { ref, region } = variable;
    const views = viewsOf(PublishedValue.memoryOf(variable));
    return ref === undefined ? undefined : new Frame(views, region, ref.slot);
  }

  begin(): void {
    this.#updates++;
    this.#storeCount(this.#memory.frames, this.#memory.halves, this.#last);
  }

  end(): void {
    const { frames, halves, slots, slotHalves } = this.#memory;
    this.#storeCount(frames, halves, this.#first);
    this.#storeCount(slots, slotHalves, this.#slot);
  }

  /** Adds 1 to a count of the payload. */
  countUp(unit: number): void {
    const { frames, halves } = this.#memory;
    const at = this.#first + 1 + unit;
    const low = ((halves[2 * at] ?? 0) + 1) >>> 0;
    if (low === 0) frames[at] = (frames[at] ?? 0n) + 1n;
    else halves[2 * at] = low;
  }

  count(unit: number): number {
    return Number(this.#memory.frames[this.#first + 1 + unit] ?? 0n);
  }

  addFloat(unit: number, amount: number): void {
    const { floats } = this.#memory;
    const at = this.#first + 1 + unit;
    floats[at] = (floats[at] ?? 0) + amount;
  }

  setFloat(unit: number, value: number): void {
    this.#memory.floats[this.#first + 1 + unit] = value;
  }

  float(unit: number): number {
    return this.#memory.floats[this.#first + 1 + unit] ?? 0;
  }

  /** Sets the payload to zeros. */
  clear(): void {
    this.#memory.frames.fill(0n, this.#first + 1, this.#last);
  }

  /** Copies the payload into private memory. */
  copy(): Frame {
    const { frames } = this.#memory;
    const own = Frame.own(this.#last - this.#first - 1);
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
