// Turns the values that a variable takes into observations of a histogram or summary.
import type { Conversion } from '../../catalogue/conversion.js';
import { convert } from '../../catalogue/conversion.js';
import type { ObservedHistogramRow, ObservedSummaryRow } from '../../catalogue/row.js';
import { UNCHANGED } from '../../catalogue/conversion.js';
import { Distribution } from './distribution.js';
import type { Kernel } from '../kernel/kernel.js';
import { SampleWindow } from '../sample-window.js';
import type { WindowContent } from '../sample-window.js';

/** What was observed so far, as plain data. */
export interface ObservedContent {
  /** Of which variable, for which series. */
  readonly key: string;
  readonly counts: BigUint64Array;
  readonly count: bigint;
  readonly sum: number;
  readonly window: WindowContent;
  readonly lastBits: bigint | undefined;
}

/** One observed variable. `observe` counts; the distribution's lines show it. */
export class Observed {
  readonly distribution: Distribution;
  /** Tells its series, their steps and their unit from all others of the variable. */
  readonly key: string;
  readonly #row: ObservedHistogramRow | ObservedSummaryRow;
  readonly #conversion: Conversion;
  readonly #counts: BigUint64Array;
  readonly #window = new SampleWindow();
  #count = 0n;
  #sum = 0;
  #lastBits: bigint | undefined;

  /** @param series name and labels, as they stand in the text */
  constructor(kernel: Kernel, row: ObservedHistogramRow | ObservedSummaryRow, series: string) {
    this.#row = row;
    const steps = row.kind === 'observed-histogram' ? row.buckets : row.quantiles;
    const { multiply, divide } = row.conversion;
    this.key = `${series} ${steps.join(' ')} ${multiply}/${divide}`;
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

  /** What was observed so far, but for the key. */
  get content(): Omit<ObservedContent, 'key'> {
    const counts = this.#counts.slice();
    const { count, sum, lastBits } = {
      count: this.#count,
      sum: this.#sum,
      lastBits: this.#lastBits,
    };
    return { counts, count, sum, lastBits, window: this.#window.content };
  }

  /** Goes on where another ended that observed the same. */
  set content({ counts, count, sum, lastBits, window }: Omit<ObservedContent, 'key'>) {
    if (counts.length !== this.#counts.length) return;
    this.#counts.set(counts);
    [this.#count, this.#sum, this.#lastBits] = [count, sum, lastBits];
    this.#window.content = window;
    this.#show();
  }

  /** Counts a value if its bits differ from those that were counted last; whether it did. */
  observe(bits: bigint, raw: number): boolean {
    if (bits === this.#lastBits) return false;
    this.#lastBits = bits;
    const value = convert(raw, this.#conversion);
    if (Number.isNaN(value)) return false;
    this.#count++;
    this.#sum += value;
    if (this.#row.kind === 'observed-histogram') {
      const index = this.#row.buckets.findIndex((bound) => value <= bound);
      const bucket = index < 0 ? this.#row.buckets.length : index;
      this.#counts[bucket] = (this.#counts[bucket] ?? 0n) + 1n;
    } else this.#window.add(value);
    this.#show();
    return true;
  }

  #show(): void {
    if (this.#row.kind === 'observed-histogram') {
      this.distribution.setHistogram(this.#counts, this.#sum);
      return;
    }
    const values = this.#window.percentiles(...this.#row.quantiles);
    this.distribution.setSummary(this.#count, this.#sum, values);
  }
}
