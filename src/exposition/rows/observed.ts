// Variables whose values the exporter observes in a histogram or summary of its own.
import { UNCHANGED, convert } from '../../catalogue/row.js';
import type { BoundsOrQuantiles, Conversion, RowOutput } from '../../catalogue/row.js';
import { LargeMap } from '../../collections/large-map.js';
import type { Variable } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';
import type { SlotReader } from '../read/slot-reader.js';
import { numberOf } from '../read/slots.js';
import type { ViewContext } from '../view-context.js';
import { SampleWindow } from '../sample-window.js';
import { Distribution } from './distribution.js';

/** The distribution of the values of one variable. */
export class ObservedDistribution {
  readonly distribution: Distribution;
  /** See `observedKey`. */
  readonly key: string;
  readonly #shape: BoundsOrQuantiles;
  readonly #conversion: Conversion;
  readonly #counts: BigUint64Array;
  readonly #window = new SampleWindow();
  #count = 0n;
  #sum = 0;
  #lastBits: bigint | undefined;

  /** @param series name and labels, as in the exposition text */
  constructor(kernel: Kernel, shape: BoundsOrQuantiles, conversion: Conversion, series: string) {
    this.#shape = shape;
    this.#conversion = conversion;
    this.key = observedKey(shape, conversion, series);
    this.#counts = new BigUint64Array(shape.type === 'histogram' ? shape.bounds.length + 1 : 0);
    this.distribution = new Distribution(kernel, shape, UNCHANGED);
  }

  /** Observes a value if its bits differ from the bits of the last value. Returns whether it was observed. */
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

/**
 * Identifies a distribution among those of one variable: by its series, its bounds or quantiles, and its conversion.
 */
function observedKey(
  shape: BoundsOrQuantiles,
  { multiply, divide }: Conversion,
  series: string,
): string {
  const steps = shape.type === 'histogram' ? shape.bounds : shape.quantiles;
  return `${series} ${steps.join(' ')} ${multiply}/${divide}`;
}

interface ObservedVariable {
  readonly variable: Variable;
  readonly all: readonly ObservedDistribution[];
}

export class ObservedVariables {
  readonly #kernel: Kernel;
  readonly #slotReader: SlotReader;
  /** By the variable's id. */
  readonly #observed = new LargeMap<ObservedVariable>();

  constructor({ kernel, slotReader }: Pick<ViewContext, 'kernel' | 'slotReader'>) {
    this.#kernel = kernel;
    this.#slotReader = slotReader;
  }

  get isEmpty(): boolean {
    return this.#observed.size === 0;
  }

  /** Begins to observe a variable; returns the series that show it. */
  show(
    variable: Variable,
    shape: BoundsOrQuantiles,
    conversion: Conversion,
    series: string,
  ): RowOutput {
    const all = this.#observed.get(variable.id)?.all ?? [];
    const key = observedKey(shape, conversion, series);
    if (all.some((other) => other.key === key)) return 'unchanged';
    const observed = new ObservedDistribution(this.#kernel, shape, conversion, series);
    this.#observed.set(variable.id, { variable, all: [...all, observed] });
    return observed.distribution.series;
  }

  delete({ id }: Pick<Variable, 'id'>): void {
    for (const each of this.#observed.get(id)?.all ?? []) each.distribution.close();
    this.#observed.delete(id);
  }

  /** Observes the last copied value of each variable. Returns whether any value was new. */
  observe(): boolean {
    let hasObserved = false;
    for (const { variable, all } of this.#observed.values()) {
      const bits = this.#slotReader.bits(variable);
      if (bits === undefined) continue;
      for (const observed of all)
        if (observed.observe(bits, numberOf(bits, variable))) hasObserved = true;
    }
    return hasObserved;
  }

  *closing(): Generator<void, void> {
    for (const id of this.#observed.keys()) {
      this.delete({ id });
      yield;
    }
  }
}
