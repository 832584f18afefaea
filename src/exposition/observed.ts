// Turns the values that a variable takes into observations of a histogram or summary.
import type { Conversion } from '../catalogue/conversion.js';
import { convert } from '../catalogue/conversion.js';
import type { ObservedHistogramRow, ObservedSummaryRow } from '../catalogue/row.js';
import { UNCHANGED } from '../catalogue/conversion.js';
import { Distribution } from './distribution.js';
import type { Kernel } from './kernel/kernel.js';
import { SampleWindow } from './sample-window.js';

/** One observed variable. `observe` counts; the distribution's lines show it. */
export class Observed {
  readonly distribution: Distribution;
  readonly #row: ObservedHistogramRow | ObservedSummaryRow;
  readonly #conversion: Conversion;
  readonly #counts: BigUint64Array;
  readonly #window = new SampleWindow();
  #count = 0n;
  #sum = 0;
  #lastBits: bigint | undefined;

  constructor(kernel: Kernel, row: ObservedHistogramRow | ObservedSummaryRow) {
    this.#row = row;
    this.#conversion = row.conversion;
    const isHistogram = row.kind === 'observed-histogram';
    this.#counts = new BigUint64Array(isHistogram ? row.buckets.length + 1 : 0);
    this.distribution = new Distribution(
      kernel,
      isHistogram
        ? { type: 'histogram', bounds: row.buckets }
        : { type: 'summary', quantiles: row.quantiles },
      UNCHANGED,
    );
  }

  /** Counts a value if its bits differ from those that were counted last. */
  observe(bits: bigint, raw: number): void {
    if (bits === this.#lastBits) return;
    this.#lastBits = bits;
    const value = convert(raw, this.#conversion);
    if (Number.isNaN(value)) return;
    this.#count++;
    this.#sum += value;
    if (this.#row.kind === 'observed-histogram') {
      const index = this.#row.buckets.findIndex((bound) => value <= bound);
      const bucket = index < 0 ? this.#row.buckets.length : index;
      this.#counts[bucket] = (this.#counts[bucket] ?? 0n) + 1n;
      this.distribution.setHistogram(this.#counts, this.#sum);
      return;
    }
    this.#window.add(value);
    const values = this.#window.percentiles(...this.#row.quantiles);
    this.distribution.setSummary(this.#count, this.#sum, values);
  }
}
