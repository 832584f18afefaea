// Counters: numbers that never fall.
import { refusal } from './child.js';
import { isObject } from './children.js';
import type { GivenLabels, GivenValues, LabelValues } from './children.js';
import type { MetricConfiguration } from './metric.js';
import { NumberChild, NumberMetric } from './number-metric.js';
import { NO_LABELS, numberIn, updateOf } from './updates.js';
import type { UpdateWithExemplar } from './updates.js';

export type CounterConfiguration<T extends string> = MetricConfiguration<T, Counter<T>>;
export type IncreaseDataWithExemplar<T extends string> = UpdateWithExemplar<T>;

/** The error for an amount that is no finite number from 0. */
function refusalOf(metric: string, amount: unknown): RangeError {
  const reason = Number(amount) < 0 ? ', since a counter does not fall' : '';
  return refusal(metric, 'inc', amount, `a finite number from 0${reason}`);
}

const isAmount = (value: unknown): boolean =>
  typeof value === 'number' && value >= 0 && value < Infinity;

/** A child of a counter. */
export class CounterChild extends NumberChild {
  protected readonly kind = 'counter';

  /** Adds an amount, 1 by default. @throws RangeError for anything but a finite number from 0 */
  readonly inc = (value = 1): void => {
    if (!isAmount(value)) throw refusalOf(this.metricName, value);
    this.add(value);
  };
}

export class Counter<T extends string = string> extends NumberMetric<T, CounterChild> {
  /** @throws RangeError for an option that is unknown, invalid or missing */
  constructor(configuration: CounterConfiguration<T>) {
    super('Counter', 'counter', configuration);
    this.register(configuration.registers);
  }

  /** Adds an amount, 1 by default. @throws RangeError for wrong labels, or anything but a finite number from 0 */
  inc(value?: number): void;
  inc(labels: LabelValues<T>, value?: number): void;
  inc(data: IncreaseDataWithExemplar<T>): void;
  inc(first?: number | LabelValues<T> | IncreaseDataWithExemplar<T>, value?: number): void {
    if (!isObject(first)) this.#add(NO_LABELS, numberIn(first));
    else if (!this.enableExemplars) this.#add(first, value ?? 1);
    else {
      const update = updateOf(first);
      this.#add(update.labels, update.value);
    }
  }

  /** Checks the value first, so that a refused one adds no child. */
  #add(labels: GivenValues, value = 1): void {
    if (!isAmount(value)) throw refusalOf(this.publishedName, value);
    this.child(labels).inc(value);
  }

  protected newChild(labels: GivenLabels): CounterChild {
    return new CounterChild(labels, this.family);
  }
}
