// The observed variables of a target: each of their values is an observation.
import type { Conversion, Shape, RowOutput } from '../../catalogue/row.js';
import { WideMap } from '../../collections/wide-map.js';
import type { Variable } from '../../model.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Probe } from '../read/probe.js';
import { numberOf } from '../read/slot-value.js';
import { Observed, observedKey } from './observed.js';

/** A variable, and what shows its values. */
interface ObservedVariable {
  readonly variable: Variable;
  readonly all: readonly Observed[];
}

export class Observations {
  readonly #kernel: Kernel;
  readonly #probe: Probe;
  /** By the variable's id. */
  readonly #observed = new WideMap<ObservedVariable>();

  constructor(kernel: Kernel, probe: Probe) {
    this.#kernel = kernel;
    this.#probe = probe;
  }

  get isEmpty(): boolean {
    return this.#observed.size === 0;
  }

  /** Observes a variable from now on; returns the series that show it. */
  show(variable: Variable, shape: Shape, conversion: Conversion, series: string): RowOutput {
    const all = this.#observed.get(variable.id)?.all ?? [];
    const key = observedKey(shape, conversion, series);
    if (all.some((other) => other.key === key)) return 'unchanged';
    const observed = new Observed(this.#kernel, shape, conversion, series);
    this.#observed.set(variable.id, { variable, all: [...all, observed] });
    return observed.distribution.series;
  }

  forget({ id }: Pick<Variable, 'id'>): void {
    for (const each of this.#observed.get(id)?.all ?? []) each.distribution.close();
    this.#observed.delete(id);
  }

  /** Counts the current values as observations; false if none is new. */
  observe(): boolean {
    let hasCounted = false;
    for (const { variable, all } of this.#observed.values()) {
      const bits = this.#probe.bits(variable);
      if (bits === undefined) continue;
      for (const observed of all)
        if (observed.observe(bits, numberOf(bits, variable))) hasCounted = true;
    }
    return hasCounted;
  }

  *closing(): Generator<void, void> {
    for (const id of this.#observed.keys()) {
      this.forget({ id });
      yield;
    }
  }
}
