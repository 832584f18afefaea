// One histogram or summary, with derived values in the kernel's memory.
import { convert } from '../../catalogue/row.js';
import type { Conversion, Series, Shape } from '../../catalogue/row.js';
import type { Frame } from '../../model.js';
import { OP } from '../kernel/kernel.js';
import { CELL_BYTES } from '../kernel/layout.js';
import type { Kernel } from '../kernel/kernel.js';

const MAX_COUNT = 2n ** 64n - 1n;

/** Derived values in order: buckets (cumulative) or quantiles, then sum, then count. */
export class Distribution {
  readonly #kernel: Kernel;
  readonly #shape: Shape;
  readonly #conversion: Conversion;
  readonly #steps: number;
  readonly #at: number;

  /** @param conversion for sum and quantile values */
  constructor(kernel: Kernel, shape: Shape, conversion: Conversion) {
    this.#kernel = kernel;
    this.#shape = shape;
    this.#conversion = conversion;
    this.#steps = shape.type === 'histogram' ? shape.bounds.length + 1 : shape.quantiles.length;
    this.#at = kernel.arena.take((this.#steps + 2) * CELL_BYTES);
    kernel.bytes.fill(0, this.#at, this.#at + (this.#steps + 2) * CELL_BYTES);
    // Without observations, quantiles are NaN and buckets are zero.
    if (shape.type === 'summary') for (let i = 0; i < this.#steps; i++) this.#setNumber(i, NaN);
  }

  get series(): readonly Series[] {
    const shape = this.#shape;
    const value = (index: number, op: number) => ({ address: this.#cell(index), op });
    const steps: readonly Series[] =
      shape.type === 'histogram'
        ? [...shape.bounds, Infinity].map((le, i) => ({
            suffix: '_bucket',
            labels: { le },
            value: value(i, OP.u64),
          }))
        : shape.quantiles.map((quantile, i) => ({ labels: { quantile }, value: value(i, OP.f64) }));
    return [
      ...steps,
      { suffix: '_sum', value: value(this.#steps, OP.f64) },
      { suffix: '_count', value: value(this.#steps + 1, OP.u64) },
    ];
  }

  /** Sets a published value of its type; ignores others. */
  setFrame(frame: Frame): void {
    if (frame.type === 'histogram') this.setHistogram(frame.counts, frame.sum);
    else if (frame.type === 'summary') this.setSummary(frame.count, frame.sum, frame.values);
  }

  /** Sets the count of each bucket, not cumulative, and the sum before conversion. */
  setHistogram(counts: ArrayLike<bigint>, sum: number): void {
    let total = 0n;
    for (let i = 0; i < Math.max(this.#steps, counts.length); i++) {
      total += counts[i] ?? 0n;
      // Parsers refuse a page whose cumulative buckets decrease.
      if (total > MAX_COUNT) total = MAX_COUNT;
      // A bound that its conversion makes infinite has no bucket of its own: the rest is in +Inf.
      if (i < this.#steps - 1) this.#set(i, total);
    }
    this.#set(this.#steps - 1, total);
    this.#setNumber(this.#steps, convert(sum, this.#conversion));
    this.#set(this.#steps + 1, total);
  }

  /** Sets the values of the quantiles and the sum before conversion. */
  setSummary(count: bigint, sum: number, values: ArrayLike<number>): void {
    for (let i = 0; i < this.#steps; i++)
      this.#setNumber(i, convert(values[i] ?? NaN, this.#conversion));
    this.#setNumber(this.#steps, convert(sum, this.#conversion));
    this.#set(this.#steps + 1, count);
  }

  close(): void {
    this.#kernel.arena.give(this.#at, (this.#steps + 2) * CELL_BYTES);
  }

  #cell(index: number): number {
    return this.#at + index * CELL_BYTES;
  }

  #set(index: number, bits: bigint): void {
    const { u64, run } = this.#kernel;
    const cell = this.#cell(index);
    if (u64[cell >>> 3] === bits) return;
    u64[cell >>> 3] = bits;
    run.touch(cell);
  }

  #setNumber(index: number, value: number): void {
    this.#set(index, bitsOf(value));
  }
}

const double = new Float64Array(1);
const doubleBits = new BigUint64Array(double.buffer);

function bitsOf(value: number): bigint {
  double[0] = value;
  return doubleBits[0] ?? 0n;
}
