// Info metrics: labels that describe the program, with the value 1.
import type { LabelValues } from './children.js';
import { Gauge } from './gauge.js';
import type { MetricConfiguration } from './metric.js';

export type InfoConfiguration<T extends string> = Pick<
  MetricConfiguration<T>,
  'name' | 'help' | 'labelNames' | 'registers'
>;

export class Info<T extends string = string> {
  readonly #gauge: Gauge<T>;

  /**
   * The name of the metric ends in `_info`, whether or not `name` does.
   * @throws RangeError for an option that is unknown, invalid or missing
   */
  constructor(configuration: InfoConfiguration<T>) {
    const { name } = configuration;
    const whole = typeof name !== 'string' || name.endsWith('_info') ? name : `${name}_info`;
    this.#gauge = new Gauge<T>({ ...configuration, name: whole });
    // A gauge without labels has the value 0 at first.
    this.#gauge.clear();
    if (this.#gauge.labelNames.length === 0) this.#gauge.set(1);
  }

  get name(): string {
    return this.#gauge.name;
  }

  /** Shows these label values in place of the previous ones. @throws RangeError for wrong labels */
  set(labels: LabelValues<T>): void {
    const known = this.#gauge.labels(labels);
    if (known.value === 1) return;
    this.#gauge.clear();
    this.#gauge.set(labels, 1);
  }
}
