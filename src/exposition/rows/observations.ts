// The observed variables of a target: each of their values is an observation.
import type { Conversion } from '../../catalogue/conversion.js';
import type { Shape, Shown } from '../../catalogue/stage.js';
import { WideMap } from '../../collections/wide-map.js';
import type { Variable } from '../../model.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Probe } from '../read/probe.js';
import { numberOf } from '../read/slot-value.js';
import { Observed, observedKey } from './observed.js';
import type { ObservedContent } from './observed.js';

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
  /** What a predecessor observed of variables that are not synced here yet. */
  readonly #inherited = new Map<string, ObservedContent>();

  constructor(kernel: Kernel, probe: Probe) {
    this.#kernel = kernel;
    this.#probe = probe;
  }

  get isEmpty(): boolean {
    return this.#observed.size === 0;
  }

  /** Observes a variable from now on; returns the series that show it. */
  show(variable: Variable, shape: Shape, conversion: Conversion, series: string): Shown {
    const all = this.#observed.get(variable.id)?.all ?? [];
    const key = observedKey(shape, conversion, series);
    if (all.some((other) => other.key === key)) return 'unchanged';
    const observed = new Observed(this.#kernel, shape, conversion, series);
    this.#observed.set(variable.id, { variable, all: [...all, observed] });
    this.#inherit(variable, observed);
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

  /** The observations so far, for a successor. */
  get content(): ObservedContent[] {
    return [...this.#observed.values()].flatMap(({ variable, all }) =>
      all.map((observed) => ({ key: keyOf(variable, observed), ...observed.content })),
    );
  }

  /** Continues the observations of a predecessor for what is observed here too, now or later. */
  adopt(contents: readonly ObservedContent[]): void {
    for (const content of contents) this.#inherited.set(content.key, content);
    for (const { variable, all } of this.#observed.values())
      for (const observed of all) this.#inherit(variable, observed);
  }

  *closing(): Generator<void, void> {
    for (const id of this.#observed.keys()) {
      this.forget({ id });
      yield;
    }
    this.#inherited.clear();
  }

  #inherit(variable: Variable, observed: Observed): void {
    const key = keyOf(variable, observed);
    const content = this.#inherited.get(key);
    if (content === undefined) return;
    observed.content = content;
    this.#inherited.delete(key);
  }
}

/** Identifies an observed series in any target over the same generation. */
const keyOf = ({ id }: Variable, { key }: Observed): string => `${id} ${key}`;
