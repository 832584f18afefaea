// Gauges: numbers that rise and fall.
import { wallClockMs } from '../../../clock.js';
import { refusal } from './child.js';
import { isObject } from './children.js';
import type { GivenLabels, GivenValues, LabelValues } from './children.js';
import type { MetricConfiguration } from './metric.js';
import { NumberChild, NumberMetric } from './number-metric.js';
import { NO_LABELS, timer } from './updates.js';
import type { EndTimer } from './updates.js';

export type GaugeConfiguration<T extends string> = MetricConfiguration<T, Gauge<T>>;

/** A child of a gauge. */
export class GaugeChild extends NumberChild {
  protected readonly kind = 'gauge';

  /** Adds an amount, 1 by default. @throws RangeError for anything but a number */
  readonly inc = (value = 1): void => {
    this.add(checked(this.metricName, 'inc', value));
  };

  /** Subtracts an amount, 1 by default. @throws RangeError for anything but a number */
  readonly dec = (value = 1): void => {
    this.add(-checked(this.metricName, 'dec', value));
  };

  /** @throws RangeError for anything but a number */
  readonly set = (value: number): void => {
    this.store(checked(this.metricName, 'set', value));
  };

  /** Sets the gauge to the seconds since 1970. */
  readonly setToCurrentTime = (): void => {
    this.store(wallClockMs() / 1000);
  };

  /** Starts a timer. The returned function sets the gauge, with these labels in addition, to the seconds since the start. */
  readonly startTimer = (): EndTimer<string> =>
    timer(NO_LABELS, (labels, seconds) => {
      this.withLabels(labels).set(seconds);
    });
}

/** @throws RangeError for anything but a number */
function checked(metric: string, method: string, value: unknown): number {
  if (typeof value !== 'number') throw refusal(metric, method, value, 'a number');
  return value;
}

export class Gauge<T extends string = string> extends NumberMetric<T, GaugeChild> {
  /** @throws RangeError for an option that is unknown, invalid or missing */
  constructor(configuration: GaugeConfiguration<T>) {
    super('Gauge', 'gauge', configuration);
    this.register(configuration.registers);
  }

  /** Adds an amount, 1 by default. @throws RangeError for wrong labels, or anything but a number */
  inc(value?: number): void;
  inc(labels: LabelValues<T>, value?: number): void;
  inc(first?: number | LabelValues<T>, value?: number): void {
    if (isObject(first)) this.#add('inc', first, value);
    else this.#add('inc', NO_LABELS, first);
  }

  /** Subtracts an amount, 1 by default. @throws RangeError for wrong labels, or anything but a number */
  dec(value?: number): void;
  dec(labels: LabelValues<T>, value?: number): void;
  dec(first?: number | LabelValues<T>, value?: number): void {
    if (isObject(first)) this.#add('dec', first, value);
    else this.#add('dec', NO_LABELS, first);
  }

  /** @throws RangeError for wrong labels, or anything but a number */
  set(value: number): void;
  set(labels: LabelValues<T>, value: number): void;
  set(first: number | LabelValues<T>, value?: number): void {
    const [labels, number] = isObject(first) ? [first, value] : [NO_LABELS, first];
    const checkedNumber = checked(this.publishedName, 'set', number);
    this.child(labels).set(checkedNumber);
  }

  /** Sets the gauge to the seconds since 1970. */
  setToCurrentTime(labels: LabelValues<T> = {}): void {
    this.child(labels).setToCurrentTime();
  }

  /** Starts a timer. The returned function sets the gauge to the seconds since the start. */
  startTimer(labels: LabelValues<T> = {}): EndTimer<T> {
    return timer(labels, (all, seconds) => {
      this.child(all).set(seconds);
    });
  }

  /** Checks the value first, so that a refused one adds no child. */
  #add(method: 'inc' | 'dec', labels: GivenValues, value: unknown = 1): void {
    const amount = checked(this.publishedName, method, value);
    this.child(labels)[method](amount);
  }

  protected newChild(labels: GivenLabels): GaugeChild {
    return new GaugeChild(labels, this.family);
  }
}
