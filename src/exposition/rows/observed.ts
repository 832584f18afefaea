// Variables whose values the exporter observes in a histogram or summary of its own.
import { UNCHANGED, convert } from '../../catalogue/row.js';
import type { BoundsOrQuantiles, Conversion, Row, RowOutput } from '../../catalogue/row.js';
import { LargeMap } from '../../collections/large-map.js';
import type { Variable } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';
import type { SlotReader } from '../read/slot-reader.js';
import { numberOf } from '../read/slots.js';
import type { ViewContext } from '../view-context.js';
import { SampleWindow } from '../sample-window.js';
import { Distribution } from './distribution.js';

/** The distribution of the values of one variable. */
class ObservedDistribution {
  readonly distribution: Distribution;
  readonly #shape: BoundsOrQuantiles;
  readonly #conversion: Conversion;
  readonly #counts: BigUint64Array;
  readonly #window = new SampleWindow();
  #count = 0n;
  #sum = 0;
  #lastBits: bigint | undefined;

  constructor(kernel: Kernel, shape: BoundsOrQuantiles, conversion: Conversion) {
    this.#shape = shape;
    this.#conversion = conversion;
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

interface ObservedVariable {
  readonly variable: Variable;
  readonly byRow: Map<Row, ObservedDistribution>;
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

  has(variableId: number): boolean {
    return this.#observed.has(variableId);
  }

  /** Begins to observe a variable for a row; returns the series that show it. */
  show(variable: Variable, row: Row, shape: BoundsOrQuantiles, conversion: Conversion): RowOutput {
    const observed = this.#observed.get(variable.id) ?? { variable, byRow: new Map() };
    if (observed.byRow.has(row)) return 'unchanged';
    const added = new ObservedDistribution(this.#kernel, shape, conversion);
    observed.byRow.set(row, added);
    this.#observed.set(variable.id, observed);
    return added.distribution.series;
  }

  delete({ id }: Pick<Variable, 'id'>): void {
    for (const each of this.#observed.get(id)?.byRow.values() ?? []) each.distribution.close();
    this.#observed.delete(id);
  }

  /** Observes the last copied value of each variable. Returns whether any value was new. */
  observe(): boolean {
    let hasObserved = false;
    for (const { variable, byRow } of this.#observed.values()) {
      const bits = this.#slotReader.bits(variable);
      if (bits === undefined) continue;
      for (const observed of byRow.values())
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
