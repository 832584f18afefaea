// Summaries: counts, sums and estimated quantiles of observations.
import { LIMITS } from '../../segment/layout.js';
import { between, flag, integer, list, number, suggesting } from '../../../rules/rule.js';
import type { OptionRules } from '../../../rules/options.js';
import { FrameWriter, SUMMARY } from '../frame-writer.js';
import type { PublishedSummary } from '../published-values.js';
import { Child, refusal } from './child.js';
import type { AddVariable, Family } from './child.js';
import { isObject } from './children.js';
import type { GivenLabels, GivenValues, LabelValues } from './children.js';
import { Metric } from './metric.js';
import type { MetricConfiguration } from './metric.js';
import { QuantileWindow } from './quantile-window.js';
import type { MetricValue } from './metric-object.js';
import { NO_LABELS, numberIn, timer } from './updates.js';
import type { EndTimer } from './updates.js';

export interface SummaryConfiguration<T extends string> extends MetricConfiguration<T, Summary<T>> {
  /** Quantiles from 0 to 1; an empty list for count and sum only. Default: .01 .05 .5 .9 .95 .99 .999. */
  readonly percentiles?: readonly number[] | undefined;
  /** The length of the window whose observations the quantiles describe. Default: all observations. */
  readonly maxAgeSeconds?: number | undefined;
  /** The number of steps in which the window moves. Needs `maxAgeSeconds`. */
  readonly ageBuckets?: number | undefined;
  /** Whether a child without observations in the window is removed. Default false. */
  readonly pruneAgedBuckets?: boolean | undefined;
  /** The number of observations after which the estimator is compressed. Default 1000. */
  readonly compressCount?: number | undefined;
}

const DEFAULT_PERCENTILES = [0.01, 0.05, 0.5, 0.9, 0.95, 0.99, 0.999];
const MAX_AGE_BUCKETS = 100;
/** A suggestion for a percentage. It is rounded, since a division by 100 may be inexact. */
const quantileGuess = (raw: unknown): string => {
  const percentage = Number(raw);
  const quantile = Number((percentage / 100).toPrecision(12));
  return percentage > 1 && percentage <= 100 ? ` (write ${quantile})` : '';
};
const RULES: OptionRules = {
  percentiles: list(suggesting(between(0, 1), quantileGuess), { max: LIMITS.schemaEntries }),
  maxAgeSeconds: number('a number above 0', (value) => value > 0),
  ageBuckets: integer(1, MAX_AGE_BUCKETS),
  pruneAgedBuckets: flag,
  compressCount: integer(1, Number.MAX_SAFE_INTEGER),
};

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0;

/** The settings and quantiles that the children of a summary share. */
interface Window {
  readonly quantiles: readonly number[];
  readonly compressCount: number;
  readonly make: () => QuantileWindow;
  /** Whether anything reads the window. */
  readonly isNeeded: boolean;
}

/** A child of a summary. */
export class SummaryChild extends Child {
  readonly #window: Window;
  #frame: FrameWriter;
  #estimate: QuantileWindow;

  constructor(labels: GivenLabels, family: Family, window: Window) {
    super(labels, family);
    this.#window = window;
    this.#estimate = window.make();
    this.#frame = FrameWriter.own(SUMMARY.values + window.quantiles.length);
  }

  /** Counts an observation. @throws RangeError for anything but a finite number */
  readonly observe = (value: number): void => {
    if (!Number.isFinite(value))
      throw refusal(this.metricName, 'observe', value, 'a finite number');
    if (this.successor !== undefined) {
      this.successor()?.observe(value);
      return;
    }
    const frame = this.#frame;
    frame.begin();
    frame.countUp(SUMMARY.count);
    frame.addFloat(SUMMARY.sum, value);
    frame.end();
    if (!this.#window.isNeeded) return;
    this.#estimate.push(value, performance.now());
    const { count } = this;
    if (count % this.#window.compressCount === 0) this.#estimate.compress();
    // So pages have quantiles from the first observation on, not only after the next interval.
    if (isPowerOfTwo(count)) this.refresh();
  };

  /** Starts a timer. The returned function observes the seconds since the start. */
  readonly startTimer = (): EndTimer<string> =>
    timer(NO_LABELS, (labels, seconds) => {
      this.withLabels(labels).observe(seconds);
    });

  get count(): number {
    return this.#frame.count(SUMMARY.count);
  }

  get sum(): number {
    return this.#frame.float(SUMMARY.sum);
  }

  /** The values of the quantiles at the last `refresh`. */
  get values(): number[] {
    return this.#window.quantiles.map((_, index) => this.#frame.float(SUMMARY.values + index));
  }

  /** Stores the values of the quantiles now. */
  refresh(): void {
    const { quantiles } = this.#window;
    if (quantiles.length === 0) return;
    const values = this.#estimate.values(quantiles, performance.now());
    this.#frame.begin();
    this.#frame.setFloats(SUMMARY.values, values);
    this.#frame.end();
  }

  isAged(): boolean {
    return this.#estimate.isEmpty(performance.now());
  }

  /** Begins again without observations. Each quantile is 0, as in prom-client. */
  restart(): void {
    this.#estimate = this.#window.make();
    this.#frame.begin();
    this.#frame.clear();
    this.#frame.end();
  }

  protected moveTo(addVariable: AddVariable): PublishedSummary {
    const variable = addVariable('summary', { schema: this.#window.quantiles });
    variable.set(this.count, this.sum, this.values);
    this.#frame = variable.frame ?? this.#frame;
    return variable;
  }

  protected moveBack(): void {
    this.#frame = this.#frame.copy();
  }
}

export class Summary<T extends string = string> extends Metric<T, SummaryChild> {
  readonly #window: Window;
  readonly #prunes: boolean;

  /** @throws RangeError for an option that is unknown, invalid or missing */
  constructor(configuration: SummaryConfiguration<T>) {
    super('Summary', 'summary', configuration, RULES);
    const { percentiles = DEFAULT_PERCENTILES, maxAgeSeconds, ageBuckets } = configuration;
    // A set has 0 for -0.
    const quantiles = [...new Set(percentiles)].sort((one, other) => one - other);
    this.#prunes = configuration.pruneAgedBuckets ?? false;
    this.#window = {
      quantiles,
      isNeeded: quantiles.length > 0 || this.#prunes,
      compressCount: configuration.compressCount ?? 1000,
      make: () => new QuantileWindow(maxAgeSeconds, ageBuckets, performance.now()),
    };
    this.register(configuration.registers);
  }

  /** Counts an observation. @throws RangeError for wrong labels, or anything but a finite number */
  observe(value: number): void;
  observe(labels: LabelValues<T> | undefined, value: number): void;
  observe(first?: number | LabelValues<T>, value?: number): void {
    if (isObject(first)) this.#observed(first, value);
    else this.#observed(NO_LABELS, numberIn(first ?? value));
  }

  /** Starts a timer. The returned function observes the seconds since the start. */
  startTimer(labels: LabelValues<T> = {}): EndTimer<T> {
    return timer(labels, (all, seconds) => {
      this.#observed(all, seconds);
    });
  }

  /** Sets all children to 0. */
  reset(): void {
    for (const child of this.children) child.restart();
  }

  override refresh(): void {
    if (!this.#window.isNeeded) return;
    for (const child of this.children)
      if (this.#prunes && child.isAged()) this.drop(child);
      else child.refresh();
  }

  #observed(labels: GivenValues, value: number | undefined): void {
    if (value === undefined || !Number.isFinite(value))
      throw refusal(this.publishedName, 'observe', value, 'a finite number');
    this.child(labels).observe(value);
  }

  protected newChild(labels: GivenLabels): SummaryChild {
    return new SummaryChild(labels, this.family, this.#window);
  }

  protected valuesOf({ labels, values, sum, count }: SummaryChild): MetricValue[] {
    const { name } = this;
    return [
      ...values.map((value, index) => ({
        labels: { quantile: this.#window.quantiles[index] ?? NaN, ...labels },
        value,
      })),
      { labels: { ...labels }, value: sum, metricName: `${name}_sum` },
      { labels: { ...labels }, value: count, metricName: `${name}_count` },
    ];
  }
}
