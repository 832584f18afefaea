// Counters: numbers that never fall.
import { shownValue } from '../../../rules/options.js';
import { isObject } from './children.js';
import type { GivenLabels, LabelValues } from './children.js';
import { Metric } from './metric.js';
import type { MetricConfiguration } from './metric.js';
import { NumberChild } from './number-child.js';
import type { MetricValue } from './metric-object.js';
import { NO_LABELS, numberIn, updateOf } from './updates.js';
import type { UpdateWithExemplar } from './updates.js';

export type CounterConfiguration<T extends string> = MetricConfiguration<T, Counter<T>>;
export type IncreaseDataWithExemplar<T extends string> = UpdateWithExemplar<T>;

/** A child of a counter. */
export class CounterChild extends NumberChild {
  protected readonly kind = 'counter';

  /** Adds an amount, 1 by default. @throws RangeError for anything but a finite number from 0 */
  inc(value = 1): void {
    if (!(typeof value === 'number' && value >= 0 && value < Infinity))
      throw new RangeError(
        `inc: value: found ${shownValue(value)}, allowed: a finite number from 0, since a counter does not fall`,
      );
    this.add(value);
  }
}

export class Counter<T extends string = string> extends Metric<T, CounterChild> {
  /** @throws RangeError for an option that is unknown, invalid or missing */
  constructor(configuration: CounterConfiguration<T>) {
    super('Counter', 'counter', configuration);
    this.enter(configuration.registers);
  }

  /** Adds an amount, 1 by default. @throws RangeError for wrong labels, or anything but a finite number from 0 */
  inc(value?: number): void;
  inc(labels: LabelValues<T>, value?: number): void;
  inc(data: IncreaseDataWithExemplar<T>): void;
  inc(first?: number | LabelValues<T> | IncreaseDataWithExemplar<T>, value?: number): void {
    if (!isObject(first)) this.child(NO_LABELS).inc(numberIn(first));
    else if (!this.enableExemplars) this.child(first).inc(value ?? 1);
    else {
      const update = updateOf(first);
      this.child(update.labels).inc(update.value);
    }
  }

  /** Begins again at 0, without children. */
  reset(): void {
    for (const child of this.children) this.drop(child);
    if (this.labelNames.length === 0) this.child(NO_LABELS);
  }

  protected newChild(labels: GivenLabels): CounterChild {
    return new CounterChild(labels);
  }

  protected valuesOf({ labels, value }: CounterChild): MetricValue[] {
    return [{ value, labels }];
  }
}
