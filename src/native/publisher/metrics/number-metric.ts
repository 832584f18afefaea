// The base of counters and gauges: metrics whose children are one number each.
import type { VariableKind } from '../../../published.js';
import { PublishedValue } from '../published-values.js';
import type { PublishedScalar } from '../published-values.js';
import { Child } from './child.js';
import type { AddVariable } from './child.js';
import { Metric } from './metric.js';
import type { MetricValue } from './metric-object.js';

export abstract class NumberChild extends Child {
  /** Private, so that `structuredClone` does not copy the whole segment. */
  #values: Float64Array = new Float64Array(1);
  #index = 0;

  get value(): number {
    return this.#values[this.#index] ?? 0;
  }

  restart(): void {
    this.#values[this.#index] = 0;
  }

  protected abstract readonly kind: VariableKind;

  protected add(amount: number): void {
    if (this.successor === undefined)
      this.#values[this.#index] = (this.#values[this.#index] ?? 0) + amount;
    else this.successor()?.add(amount);
  }

  protected store(value: number): void {
    if (this.successor === undefined) this.#values[this.#index] = value;
    else this.successor()?.store(value);
  }

  protected moveTo(addVariable: AddVariable): PublishedScalar {
    const variable = addVariable('f64', { kind: this.kind });
    const { ref } = variable;
    if (ref === undefined) return variable;
    variable.set(this.value);
    this.#values = PublishedValue.memoryOf(variable).f64;
    this.#index = ref.slot;
    return variable;
  }

  protected moveBack(): void {
    this.#values = Float64Array.of(this.value);
    this.#index = 0;
  }
}

export abstract class NumberMetric<T extends string, C extends NumberChild> extends Metric<T, C> {
  /** Begins again at 0, without children. */
  reset(): void {
    for (const child of this.children)
      if (this.labelNames.length === 0) child.restart();
      else this.drop(child);
  }

  protected valuesOf({ labels, value }: C): MetricValue[] {
    return [{ value, labels: { ...labels } }];
  }
}
