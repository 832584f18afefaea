// Gauges: numbers that rise and fall.
import { wallClockMs } from '../../../clock.js';
import { shownValue } from '../../../rules/options.js';
import { isObject } from './children.js';
import type { GivenLabels, LabelValues } from './children.js';
import { Metric } from './metric.js';
import type { MetricConfiguration } from './metric.js';
import { NumberChild } from './number-child.js';
import type { MetricValue } from './metric-object.js';
import { NO_LABELS, timer } from './updates.js';
import type { EndTimer } from './updates.js';

export type GaugeConfiguration<T extends string> = MetricConfiguration<T, Gauge<T>>;

/** A child of a gauge. */
export class GaugeChild extends NumberChild {
  protected readonly kind = 'gauge';

  /** Adds an amount, 1 by default. @throws RangeError for anything but a number */
  inc(value = 1): void {
    if (typeof value !== 'number') throw refusal('inc', value);
    this.add(value);
  }

  /** Subtracts an amount, 1 by default. @throws RangeError for anything but a number */
  dec(value = 1): void {
    if (typeof value !== 'number') throw refusal('dec', value);
    this.add(-value);
  }

  /** @throws RangeError for anything but a number */
  set(value: number): void {
    if (typeof value !== 'number') throw refusal('set', value);
    this.store(value);
  }

  /** Sets the gauge to the seconds since 1970. */
  setToCurrentTime(): void {
    this.store(wallClockMs() / 1000);
  }

  /** Starts a timer. The returned function sets the gauge to the seconds since the start. */
  startTimer(): EndTimer<string> {
    return timer(NO_LABELS, (_, seconds) => {
      this.set(seconds);
    });
  }
}

const refusal = (method: string, value: unknown): RangeError =>
  new RangeError(`${method}: value: found ${shownValue(value)}, allowed: a number`);

export class Gauge<T extends string = string> extends Metric<T, GaugeChild> {
  /** @throws RangeError for an option that is unknown, invalid or missing */
  constructor(configuration: GaugeConfiguration<T>) {
    super('Gauge', 'gauge', configuration);
    this.enter(configuration.registers);
  }

  /** Adds an amount, 1 by default. @throws RangeError for wrong labels, or anything but a number */
  inc(value?: number): void;
  inc(labels: LabelValues<T>, value?: number): void;
  inc(first?: number | LabelValues<T>, value?: number): void {
    if (isObject(first)) this.child(first).inc(value);
    else this.child(NO_LABELS).inc(first);
  }

  /** Subtracts an amount, 1 by default. @throws RangeError for wrong labels, or anything but a number */
  dec(value?: number): void;
  dec(labels: LabelValues<T>, value?: number): void;
  dec(first?: number | LabelValues<T>, value?: number): void {
    if (isObject(first)) this.child(first).dec(value);
    else this.child(NO_LABELS).dec(first);
  }

  /** @throws RangeError for wrong labels, or anything but a number */
  set(value: number): void;
  set(labels: LabelValues<T>, value: number): void;
  set(first: number | LabelValues<T>, value?: number): void {
    const [labels, number] = isObject(first) ? [first, value] : [NO_LABELS, first];
    if (typeof number !== 'number') throw refusal('set', number);
    this.child(labels).set(number);
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

  /** Begins again at 0, without children. */
  reset(): void {
    for (const child of this.children) this.drop(child);
    if (this.labelNames.length === 0) this.child(NO_LABELS);
  }

  protected newChild(labels: GivenLabels): GaugeChild {
    return new GaugeChild(labels);
  }

  protected valuesOf({ labels, value }: GaugeChild): MetricValue[] {
    return [{ value, labels }];
  }
}
