// Handles of variables: they store values, and reject them once the variable is removed.
import { VALUE_TYPES, isFramed, scalarType } from '../../published.js';
import type { FramedType, ScalarType, SlotRef, ValueType, VariableKind } from '../../published.js';
import { shownValue } from '../../rules/options.js';
import { FrameWriter, HISTOGRAM, SUMMARY } from './frame-writer.js';
import type { FrameMemory, FrameRegion } from './frame-writer.js';

type Scalar = number | bigint | boolean;

/** Converts a value to the stored number; undefined if the type cannot hold it. */
function storedNumber(type: ScalarType, value: Scalar): number | bigint | undefined {
  const { range } = scalarType(type);
  return range === undefined ? storedDouble(value) : storedInteger(range, value);
}

/** Converts a value to the stored integer; undefined if it is not an integer, or out of range. */
export function storedInteger(
  [least, most]: readonly [bigint, bigint],
  value: Scalar,
): bigint | undefined {
  const integer = integerOf(value);
  if (integer === undefined) return undefined;
  return integer >= least && integer <= most ? integer : undefined;
}

/** Converts a value to the stored double; undefined if it is not a number. */
function storedDouble(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'bigint' || typeof value === 'boolean' ? Number(value) : undefined;
}

/** Converts a value to an integer; undefined if it is not one. JavaScript callers may pass anything. */
function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

/** Describes the allowed values of a type. */
export function allowedBy(type: ScalarType): string {
  const { range } = scalarType(type);
  return range === undefined ? 'numbers' : `integers from ${range[0]} to ${range[1]}`;
}

/** The mapped memory of a segment, as typed arrays. */
export interface SegmentMemory extends FrameMemory {
  readonly words: Uint32Array;
  readonly i64: BigInt64Array;
  readonly f64: Float64Array;
  readonly frameBytes: Uint8Array;
}

/** Where a handle stores its values, and what it needs to know about its variable. */
export interface VariableLocation {
  readonly name: string;
  readonly kind: VariableKind;
  /** Undefined if the segment had no room; then the handle stores nothing. */
  readonly ref: SlotRef | undefined;
  readonly frame: FrameRegion;
  /** Bounds of a histogram, quantiles of a summary. */
  readonly schema: readonly number[];
}

/** The handle of a variable. */
export abstract class PublishedValue {
  /** Private, so that `structuredClone` of a handle does not copy the whole segment. */
  readonly #memory: SegmentMemory;
  readonly ref: SlotRef | undefined;
  readonly #name: string;
  readonly #slot: number;
  readonly #syncedWord: number;

  constructor(memory: SegmentMemory, { name, ref }: VariableLocation) {
    this.#memory = memory;
    this.#name = name;
    this.ref = ref;
    this.#slot = ref?.slot ?? 0;
    // Incarnations start at 1, so no slot has the word 1. A handle without a slot is therefore never live.
    this.#syncedWord = ref === undefined ? 1 : ((ref.incarnation << 1) | 1) >>> 0;
  }

  /** The memory of a variable's segment. After `close()` of the publisher, it is empty. */
  static memoryOf(value: PublishedValue): SegmentMemory {
    return value.#memory;
  }

  /** Removes the value: the variable has no series until the next value is stored. */
  unset(): boolean {
    if (!this.isLive()) return false;
    Atomics.store(this.memory.words, this.#slot, (this.#syncedWord & ~1) >>> 0);
    return true;
  }

  /** Whether the slot still belongs to this variable. */
  protected isLive(): boolean {
    const word = this.memory.words[this.#slot] ?? 0;
    return word === this.#syncedWord || (word === this.#syncedWord - 1 && word !== 0);
  }

  /** Marks the variable as having a value. */
  protected markSynced(): void {
    if (this.memory.words[this.#slot] !== this.#syncedWord)
      Atomics.store(this.memory.words, this.#slot, this.#syncedWord);
  }

  protected get memory(): SegmentMemory {
    return this.#memory;
  }

  protected get slot(): number {
    return this.#slot;
  }

  /** The error for a value that the variable cannot store. */
  protected refusal(found: string, allowed: string): RangeError {
    return new RangeError(
      `Variable ${shownValue(this.#name)}: found ${found}, allowed: ${allowed}`,
    );
  }
}

/** A variable with one number. `set` stores 8 bytes at once; all methods return false once the variable is removed. */
export class PublishedScalar extends PublishedValue {
  readonly #type: ScalarType;
  readonly #isCounter: boolean;

  constructor(memory: SegmentMemory, location: VariableLocation, type: ScalarType) {
    super(memory, location);
    this.#type = type;
    this.#isCounter = location.kind === 'counter';
  }

  /**
   * Replaces the value. A counter may fall: it may be a copy of another program's counter, which restarts at 0.
   * @throws RangeError for a value that the type cannot hold; then nothing is stored
   */
  set(value: Scalar): boolean {
    const stored = storedNumber(this.#type, value);
    if (stored === undefined) throw this.refusal(shownValue(value), allowedBy(this.#type));
    if (!this.isLive()) return false;
    if (typeof stored === 'number') this.memory.f64[this.slot] = stored;
    else this.memory.i64[this.slot] = stored;
    this.markSynced();
    return true;
  }

  /**
   * Adds to the value. No other code may change the variable at the same time.
   * @throws RangeError if the type cannot hold the sum, or if the variable is a counter and the amount is negative,
   *   infinite or NaN; then nothing is stored
   */
  add(value: number | bigint): boolean {
    const { slot, memory } = this;
    const { bits, range } = scalarType(this.#type);
    const amount = range === undefined ? storedDouble(value) : integerOf(value);
    if (amount === undefined)
      throw this.refusal(`${shownValue(value)} to add`, allowedBy(this.#type));
    if (this.#isCounter && !(amount >= 0 && Number.isFinite(Number(amount))))
      throw this.refusal(
        `${shownValue(value)} to add`,
        'finite amounts from 0, since a counter does not fall',
      );
    if (!this.isLive()) return false;
    if (typeof amount === 'number') return this.set((memory.f64[slot] ?? 0) + amount);
    const before = (bits === 'i64' ? memory.i64[slot] : memory.u64[slot]) ?? 0n;
    return this.set(before + amount);
  }
}

/** A variable whose value is a frame. */
abstract class PublishedFrame extends PublishedValue {
  /** Undefined if the segment had no room. */
  readonly frame: FrameWriter | undefined;

  constructor(memory: SegmentMemory, location: VariableLocation) {
    super(memory, location);
    const { ref, frame } = location;
    this.frame = ref && new FrameWriter(memory, frame, ref.slot);
  }

  /** Stores a value; false if the variable is removed. */
  protected update(write: (frame: FrameWriter) => void): boolean {
    const { frame } = this;
    if (frame === undefined || !this.isLive()) return false;
    frame.begin();
    write(frame);
    frame.end();
    this.markSynced();
    return true;
  }

  /** Converts a sum or the value of a quantile. @throws RangeError if it is not a number */
  protected double(value: unknown): number {
    const double = storedDouble(value);
    if (double === undefined) throw this.refusal(shownValue(value), 'numbers');
    return double;
  }

  /** Converts a count. @throws RangeError for anything but an integer from 0 to 2^64 - 1 */
  protected count(value: number | bigint): bigint {
    const count = storedInteger(VALUE_TYPES.u64.range, value);
    if (count === undefined) throw this.refusal(`the count ${shownValue(value)}`, allowedBy('u64'));
    return count;
  }
}

/** A variable of type string, with at most `textBytes` bytes. Longer strings are cut between two characters. */
export class PublishedText extends PublishedFrame {
  /** @throws RangeError if `text` is not a string */
  set(text: string): boolean {
    if (typeof text !== 'string') throw this.refusal(shownValue(text), 'strings');
    return this.update(({ region: { offset, length } }) => {
      const { frames, frameBytes } = this.memory;
      const room = (length - 3) * 8;
      const at = (offset + 2) * 8;
      const { written } = new TextEncoder().encodeInto(text, frameBytes.subarray(at, at + room));
      frameBytes.fill(0, at + written, at + room);
      frames[offset + 1] = BigInt(written);
    });
  }
}

/** A histogram: a count for each bucket (not cumulative) and the sum of the observations. */
export class PublishedHistogram extends PublishedFrame {
  readonly #bounds: readonly number[];

  constructor(memory: SegmentMemory, location: VariableLocation) {
    super(memory, location);
    this.#bounds = location.schema;
  }

  /**
   * Counts one observation in the first bucket whose bound it does not exceed.
   * @throws RangeError for NaN: no bucket counts it
   */
  observe(value: number): boolean {
    if (typeof value !== 'number' || Number.isNaN(value))
      throw this.refusal(shownValue(value), 'numbers, since no bucket counts NaN');
    const index = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = index < 0 ? this.#bounds.length : index;
    return this.update((frame) => {
      frame.countUp(HISTOGRAM.counts + bucket);
      frame.addFloat(HISTOGRAM.sum, value);
    });
  }

  /**
   * Replaces the sum and all counts. The number of counts is the number of bounds plus 1.
   * @throws RangeError for another number of counts, a count that is not an integer from 0 to 2^64 - 1, or a sum that is not a number
   */
  set(counts: readonly (number | bigint)[], sum: number): boolean {
    const buckets = this.#bounds.length + 1;
    if (counts.length !== buckets)
      throw this.refusal(`${counts.length} counts`, `${buckets}, one for each bucket`);
    const stored = counts.map((count) => this.count(count));
    const storedSum = this.double(sum);
    return this.update((frame) => {
      frame.setFloat(HISTOGRAM.sum, storedSum);
      frame.setCounts(HISTOGRAM.counts, stored);
    });
  }
}

/** A summary: count, sum and one value for each quantile. */
export class PublishedSummary extends PublishedFrame {
  readonly #quantiles: number;

  constructor(memory: SegmentMemory, location: VariableLocation) {
    super(memory, location);
    this.#quantiles = location.schema.length;
  }

  /**
   * Replaces count, sum and values; NaN means that a quantile has no value.
   * @throws RangeError for another number of values, a sum or value that is not a number, or a count that is not an integer from 0 to 2^64 - 1
   */
  set(count: number | bigint, sum: number, values: readonly number[]): boolean {
    if (values.length !== this.#quantiles)
      throw this.refusal(`${values.length} values`, `${this.#quantiles}, one for each quantile`);
    const stored = this.count(count);
    const storedSum = this.double(sum);
    const storedValues = values.map((value) => this.double(value));
    return this.update((frame) => {
      frame.setCounts(SUMMARY.count, [stored]);
      frame.setFloat(SUMMARY.sum, storedSum);
      frame.setFloats(SUMMARY.values, storedValues);
    });
  }
}

/** The handles of framed types. */
const FRAMED_VALUES = {
  string: PublishedText,
  histogram: PublishedHistogram,
  summary: PublishedSummary,
} as const satisfies Readonly<Record<FramedType, unknown>>;

/** The handle of each value type. */
export type PublishedValues = {
  readonly [T in ValueType]: T extends FramedType
    ? InstanceType<(typeof FRAMED_VALUES)[T]>
    : PublishedScalar;
};

export function newHandle<T extends ValueType>(
  type: T,
  memory: SegmentMemory,
  location: VariableLocation,
): PublishedValues[T] {
  const made = isFramed(type)
    ? new FRAMED_VALUES[type](memory, location)
    : new PublishedScalar(memory, location, type);
  return made as PublishedValues[T];
}
