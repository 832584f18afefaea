// One histogram or summary, with derived values in the kernel's memory.
import { convert } from '../../catalogue/conversion.js';
import type { Conversion } from '../../catalogue/conversion.js';
import type { Series, Shape } from '../../catalogue/stage.js';
import type { Frame } from '../../model.js';
import { OP } from '../kernel/kernel.js';
import type { Kernel } from '../kernel/kernel.js';

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
    this.#at = kernel.arena.take((this.#steps + 2) * 8);
    const first = this.#at >>> 3;
    kernel.u64.fill(0n, first, first + this.#steps + 2);
    // Without observations, quantiles are NaN and buckets are zero.
    if (shape.type === 'summary') kernel.f64.fill(NaN, first, first + this.#steps);
  }

  get series(): readonly Series[] {
    const shape = this.#shape;
    const value = (index: number, op: number) => ({ address: this.#at + index * 8, op });
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
    const { u64, f64 } = this.#kernel;
    const at = this.#at >>> 3;
    let total = 0n;
    for (let i = 0; i < Math.max(this.#steps, counts.length); i++) {
      total = BigInt.asUintN(64, total + (counts[i] ?? 0n));
      // A bound that its conversion makes infinite has no bucket of its own: the rest is in +Inf.
      u64[at + Math.min(i, this.#steps - 1)] = total;
    }
    f64[at + this.#steps] = convert(sum, this.#conversion);
    u64[at + this.#steps + 1] = total;
  }

  /** Sets the values of the quantiles and the sum before conversion. */
  setSummary(count: bigint, sum: number, values: ArrayLike<number>): void {
    const { u64, f64 } = this.#kernel;
    const at = this.#at >>> 3;
    for (let i = 0; i < this.#steps; i++) f64[at + i] = convert(values[i] ?? NaN, this.#conversion);
    f64[at + this.#steps] = convert(sum, this.#conversion);
    u64[at + this.#steps + 1] = count;
  }

  close(): void {
    this.#kernel.arena.give(this.#at, (this.#steps + 2) * 8);
  }
}
