// The lines of one histogram or summary, over derived values that are kept in the kernel's memory.
import { convert } from '../../catalogue/conversion.js';
import type { Conversion } from '../../catalogue/conversion.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Line } from '../kernel/line-table.js';
import { floatText } from '../text/number-text.js';
import { joinLabels, seriesText } from '../text/labels.js';

export type Shape =
  | { readonly type: 'histogram'; readonly bounds: readonly number[] }
  | { readonly type: 'summary'; readonly quantiles: readonly number[] };

/** Derived values in order: buckets (cumulative) or quantiles, then sum, then count. */
export class Distribution {
  readonly #kernel: Kernel;
  readonly #shape: Shape;
  readonly #conversion: Conversion;
  readonly #steps: number;
  readonly #at: number;

  /** @param conversion for bounds (of a published histogram), sum and quantile values */
  constructor(kernel: Kernel, shape: Shape, conversion: Conversion) {
    this.#kernel = kernel;
    this.#shape = shape;
    this.#conversion = conversion;
    this.#steps = shape.type === 'histogram' ? shape.bounds.length + 1 : shape.quantiles.length;
    this.#at = kernel.arena.take((this.#steps + 2) * 8);
    const first = this.#at >>> 3;
    kernel.u64.fill(0n, first, first + this.#steps + 2);
    // Quantiles of nothing are not a number; buckets of nothing are zero.
    if (shape.type === 'summary') kernel.f64.fill(NaN, first, first + this.#steps);
  }

  lines(name: string, labels: string): Line[] {
    const { shape, op } = { shape: this.#shape, op: this.#kernel.op('f64') };
    const count = this.#kernel.op('u64');
    const line = (series: string, index: number, kind: number): Line => ({
      text: `${series} `,
      value: this.#at + index * 8,
      op: kind,
    });
    const steps =
      shape.type === 'histogram'
        ? [...shape.bounds.map(floatText), '+Inf'].map((le, i) =>
            line(seriesText(`${name}_bucket`, joinLabels(labels, `le="${le}"`)), i, count),
          )
        : shape.quantiles.map((q, i) =>
            line(seriesText(name, joinLabels(labels, `quantile="${floatText(q)}"`)), i, op),
          );
    return [
      ...steps,
      line(seriesText(`${name}_sum`, labels), this.#steps, op),
      line(seriesText(`${name}_count`, labels), this.#steps + 1, count),
    ];
  }

  /** Takes counts a bucket, not cumulative, and the sum before conversion. */
  setHistogram(counts: ArrayLike<bigint>, sum: number): void {
    const { u64, f64 } = this.#kernel;
    const at = this.#at >>> 3;
    let total = 0n;
    for (let i = 0; i < this.#steps; i++) {
      total = BigInt.asUintN(64, total + (counts[i] ?? 0n));
      u64[at + i] = total;
    }
    f64[at + this.#steps] = convert(sum, this.#conversion);
    u64[at + this.#steps + 1] = total;
  }

  /** Takes the values of the quantiles and the sum before conversion. */
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
