// Handles of a publisher's variables: they store values, and refuse once their variable is gone.
import type { SlotRef } from '../../model.js';

/** The live memory of a segment, as arrays of words. */
export interface SlotMemory {
  readonly words: Uint32Array;
  readonly u64: BigUint64Array;
  readonly i64: BigInt64Array;
  readonly f64: Float64Array;
  /** The frames, 8 bytes a unit. */
  readonly frames: BigUint64Array;
  readonly frameFloats: Float64Array;
  readonly frameBytes: Buffer;
}

/** Common to all handles. `ref` is undefined when the segment had no room: then nothing is kept. */
export abstract class PublishedValue {
  protected readonly memory: SlotMemory;
  readonly ref: SlotRef | undefined;
  readonly #slot: number;
  readonly #synced: number;

  constructor(memory: SlotMemory, ref: SlotRef | undefined) {
    this.memory = memory;
    this.ref = ref;
    this.#slot = ref?.slot ?? 0;
    // Word 0 is never a synced one: a handle without a slot always fails the test below.
    this.#synced = ref === undefined ? 1 : ((ref.incarnation << 1) | 1) >>> 0;
  }

  /** Takes the value away: the series ends until the next value. */
  unset(): boolean {
    if (!this.isLive()) return false;
    Atomics.store(this.memory.words, this.#slot, (this.#synced & ~1) >>> 0);
    return true;
  }

  /** Whether the slot still belongs to this variable; two loads and a compare. */
  protected isLive(): boolean {
    const word = this.memory.words[this.#slot] ?? 0;
    return word === this.#synced || (word === this.#synced - 1 && word !== 0);
  }

  /** States that there is a value now. */
  protected sync(): void {
    if (this.memory.words[this.#slot] !== this.#synced)
      Atomics.store(this.memory.words, this.#slot, this.#synced);
  }

  protected get slot(): number {
    return this.#slot;
  }
}

/** A u64, i64, f64 or bool. `set` is one 8-byte store; all return false when the variable is gone. */
export class PublishedScalar extends PublishedValue {
  readonly #type: 'u64' | 'i64' | 'f64' | 'bool';

  constructor(memory: SlotMemory, ref: SlotRef | undefined, type: 'u64' | 'i64' | 'f64' | 'bool') {
    super(memory, ref);
    this.#type = type;
  }

  set(value: number | bigint | boolean): boolean {
    if (!this.isLive()) return false;
    if (this.#type === 'f64') this.memory.f64[this.slot] = Number(value);
    else this.memory.i64[this.slot] = integer(value);
    this.sync();
    return true;
  }

  /** Adds to the value, as the only writer of it. */
  add(value: number | bigint): boolean {
    if (!this.isLive()) return false;
    if (this.#type === 'f64')
      this.memory.f64[this.slot] = (this.memory.f64[this.slot] ?? 0) + Number(value);
    else this.memory.i64[this.slot] = (this.memory.i64[this.slot] ?? 0n) + integer(value);
    this.sync();
    return true;
  }
}

function integer(value: number | bigint | boolean): bigint {
  if (typeof value === 'bigint') return value;
  return BigInt(typeof value === 'boolean' ? Number(value) : Math.trunc(value));
}

/** Where a frame stands in the frames, in 8-byte units. */
export interface FramePlace {
  readonly offset: number;
  readonly words: number;
}

/** A framed value: begin, payload, end, slot, each store after the one before. */
abstract class PublishedFrame extends PublishedValue {
  readonly place: FramePlace;

  constructor(memory: SlotMemory, ref: SlotRef | undefined, place: FramePlace) {
    super(memory, ref);
    this.place = place;
  }

  protected update(payload: (first: number) => void): boolean {
    if (!this.isLive()) return false;
    const { frames, u64 } = this.memory;
    const { offset, words } = this.place;
    const next = (frames[offset] ?? 0n) + 1n;
    Atomics.store(frames, offset + words - 1, next);
    payload(offset + 1);
    Atomics.store(frames, offset, next);
    Atomics.store(u64, this.slot, next);
    this.sync();
    return true;
  }
}

/** A text of at most `capacity` bytes; longer ones are cut at a character's start. */
export class PublishedText extends PublishedFrame {
  set(text: string): boolean {
    return this.update((first) => {
      const { frames, frameBytes } = this.memory;
      const room = (this.place.words - 3) * 8;
      const at = (first + 1) * 8;
      const { written } = new TextEncoder().encodeInto(text, frameBytes.subarray(at, at + room));
      frameBytes.fill(0, at + written, at + room);
      frames[first] = BigInt(written);
    });
  }
}

/** A histogram: counts a bucket (not cumulative) and the sum of what was observed. */
export class PublishedHistogram extends PublishedFrame {
  readonly #bounds: readonly number[];

  constructor(
    memory: SlotMemory,
    ref: SlotRef | undefined,
    place: FramePlace,
    bounds: readonly number[],
  ) {
    super(memory, ref, place);
    this.#bounds = bounds;
  }

  /** Counts one observation in the first bucket whose bound it does not exceed. */
  observe(value: number): boolean {
    const index = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = index < 0 ? this.#bounds.length : index;
    return this.update((first) => {
      const { frames, frameFloats } = this.memory;
      frames[first + 1 + bucket] = (frames[first + 1 + bucket] ?? 0n) + 1n;
      frameFloats[first] = (frameFloats[first] ?? 0) + value;
    });
  }

  /** Replaces all counts, one more than there are bounds, and the sum. */
  set(counts: readonly (number | bigint)[], sum: number): boolean {
    return this.update((first) => {
      this.memory.frameFloats[first] = sum;
      for (let i = 0; i <= this.#bounds.length; i++)
        this.memory.frames[first + 1 + i] = BigInt(counts[i] ?? 0);
    });
  }
}

/** A summary: count, sum and one value a quantile. */
export class PublishedSummary extends PublishedFrame {
  set(count: number | bigint, sum: number, values: readonly number[]): boolean {
    return this.update((first) => {
      this.memory.frames[first] = BigInt(count);
      this.memory.frameFloats[first + 1] = sum;
      for (let i = 0; i < this.place.words - 4; i++)
        this.memory.frameFloats[first + 2 + i] = values[i] ?? 0;
    });
  }
}

export interface PublishedValues {
  u64: PublishedScalar;
  i64: PublishedScalar;
  f64: PublishedScalar;
  bool: PublishedScalar;
  string: PublishedText;
  histogram: PublishedHistogram;
  summary: PublishedSummary;
}
