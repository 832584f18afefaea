// Info metrics: labels that describe the program, with the value 1.
import { checkOptions } from '../../../rules/options.js';
import type { LabelValues } from './children.js';
import { Gauge } from './gauge.js';
import type { GaugeChild } from './gauge.js';
import { METRIC_OPTIONS } from './metric.js';
import type { MetricConfiguration } from './metric.js';

export type InfoConfiguration<T extends string> = Pick<
  MetricConfiguration<T>,
  'name' | 'help' | 'labelNames' | 'registers'
>;

const { name, help, labelNames, registers } = METRIC_OPTIONS;
const RULES = { name, help, labelNames, registers };

export class Info<T extends string = string> {
  readonly #gauge: Gauge<T>;
  #shown: { readonly child: GaugeChild; readonly labels: LabelValues<T> } | undefined;

  /**
   * The name of the metric ends in `_info`, whether or not `name` does.
   * @throws RangeError for an option that is unknown, invalid or missing
   */
  constructor(configuration: InfoConfiguration<T>) {
    checkOptions('Info', configuration, RULES, ['name', 'help']);
    const { name } = configuration;
    const whole = name.endsWith('_info') ? name : `${name}_info`;
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
    const child = this.#gauge.labels(labels);
    child.set(1);
    const shown = this.#shown;
    this.#shown = { child, labels: { ...labels } };
    // The new series is there before the previous one ends.
    if (shown !== undefined && shown.child !== child) this.#gauge.remove(shown.labels);
  }
}
