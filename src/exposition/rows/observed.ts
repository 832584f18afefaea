// Turns the values that a variable takes into observations of a histogram or summary.
import type { Conversion, Shape } from '../../catalogue/row.js';
import { UNCHANGED, convert } from '../../catalogue/row.js';
import { Distribution } from './distribution.js';
import type { Kernel } from '../kernel/kernel.js';
import { SampleWindow } from '../sample-window.js';

/** One observed variable. `observe` counts; the distribution's lines show it. */
export class Observed {
  readonly distribution: Distribution;
  /** See `observedKey`. */
  readonly key: string;
  readonly #shape: Shape;
  readonly #conversion: Conversion;
  readonly #counts: BigUint64Array;
  readonly #window = new SampleWindow();
  #count = 0n;
  #sum = 0;
  #lastBits: bigint | undefined;

  /** @param series name and labels, as in the exposition text */
  constructor(kernel: Kernel, shape: Shape, conversion: Conversion, series: string) {
    this.#shape = shape;
    this.#conversion = conversion;
    this.key = observedKey(shape, conversion, series);
    this.#counts = new BigUint64Array(shape.type === 'histogram' ? shape.bounds.length + 1 : 0);
    this.distribution = new Distribution(kernel, shape, UNCHANGED);
  }

  /** Counts a value if its bits differ from the last counted ones; true if it did. */
  observe(bits: bigint, raw: number): boolean {
    if (bits === this.#lastBits) return false;
    this.#lastBits = bits;
    const value = convert(raw, this.#conversion);
    if (Number.isNaN(value)) return false;
    this.#count++;
    this.#sum += value;
    if (this.#shape.type === 'histogram') {
      const { bounds } = this.#shape;
      const index = bounds.findIndex((bound) => value <= bound);
      const bucket = index < 0 ? bounds.length : index;
      this.#counts[bucket] = (this.#counts[bucket] ?? 0n) + 1n;
    } else this.#window.add(value);
    this.#show();
    return true;
  }

  #show(): void {
    if (this.#shape.type === 'histogram') {
      this.distribution.setHistogram(this.#counts, this.#sum);
      return;
    }
    const values = this.#window.percentiles(...this.#shape.quantiles);
    this.distribution.setSummary(this.#count, this.#sum, values);
  }
}

/** Identifies a series, with its steps and unit, among all of the variable. */
export function observedKey(
  shape: Shape,
  { multiply, divide }: Conversion,
  series: string,
): string {
  const steps = shape.type === 'histogram' ? shape.bounds : shape.quantiles;
  return `${series} ${steps.join(' ')} ${multiply}/${divide}`;
}
