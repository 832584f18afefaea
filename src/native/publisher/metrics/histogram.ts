// Histograms: observations in buckets.
import { LIMITS } from '../../segment/layout.js';
import { list, number } from '../../../rules/rule.js';
import { FrameWriter, HISTOGRAM } from '../frame-writer.js';
import type { PublishedHistogram } from '../published-values.js';
import { Child, refusal } from './child.js';
import type { AddVariable, Family } from './child.js';
import { isObject } from './children.js';
import type { GivenLabels, GivenValues, LabelValues } from './children.js';
import { Metric } from './metric.js';
import type { MetricConfiguration } from './metric.js';
import type { MetricObjectWithValues, MetricValue } from './metric-object.js';
import { NO_LABELS, numberIn, timer, updateOf } from './updates.js';
import type { EndTimer, ExemplarLabels, UpdateWithExemplar } from './updates.js';

export interface HistogramConfiguration<T extends string> extends MetricConfiguration<
  T,
  Histogram<T>
> {
  /** Upper bounds of the buckets without +Inf, ascending. Default: .005 to 10. */
  readonly buckets?: readonly number[] | undefined;
}

export type ObserveDataWithExemplar<T extends string> = UpdateWithExemplar<T>;

const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A child of a histogram. */
export class HistogramChild extends Child {
  readonly #bounds: readonly number[];
  #frame: FrameWriter;

  constructor(labels: GivenLabels, family: Family, bounds: readonly number[]) {
    super(labels, family);
    this.#bounds = bounds;
    this.#frame = FrameWriter.own(bounds.length + 2);
  }

  /** Counts an observation in the first bucket whose bound it does not exceed. @throws RangeError for anything but a finite number */
  readonly observe = (value: number): void => {
    if (!Number.isFinite(value))
      throw refusal(this.metricName, 'observe', value, 'a finite number');
    if (this.successor !== undefined) {
      this.successor()?.observe(value);
      return;
    }
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket++;
    const frame = this.#frame;
    frame.begin();
    frame.addFloat(HISTOGRAM.sum, value);
    frame.countUp(HISTOGRAM.counts + bucket);
    frame.end();
  };

  /** Starts a timer. The returned function observes the seconds since the start. */
  readonly startTimer = (): EndTimer<string> =>
    timer(NO_LABELS, (labels, seconds) => {
      this.withLabels(labels).observe(seconds);
    });

  restart(): void {
    this.#frame.begin();
    this.#frame.clear();
    this.#frame.end();
  }

  get sum(): number {
    return this.#frame.float(HISTOGRAM.sum);
  }

  /** The observations in each bucket, not cumulative; the last one is +Inf. */
  get counts(): number[] {
    return Array.from({ length: this.#bounds.length + 1 }, (_, bucket) =>
      this.#frame.count(HISTOGRAM.counts + bucket),
    );
  }

  protected moveTo(addVariable: AddVariable): PublishedHistogram {
    const variable = addVariable('histogram', { schema: this.#bounds });
    variable.set(this.counts, this.sum);
    this.#frame = variable.frame ?? this.#frame;
    return variable;
  }

  protected moveBack(): void {
    this.#frame = this.#frame.copy();
  }
}

export class Histogram<T extends string = string> extends Metric<T, HistogramChild> {
  readonly #bounds: readonly number[];

  /** @throws RangeError for an option that is unknown, invalid or missing */
  constructor(configuration: HistogramConfiguration<T>) {
    const rules = { buckets: list(number(), { max: LIMITS.schemaEntries }) };
    super('Histogram', 'histogram', withoutInfinity(configuration), rules);
    // A copy, since the caller may change the array, with 0 for -0.
    const { buckets = DEFAULT_BUCKETS } = withoutInfinity(configuration);
    this.#bounds = buckets.map((bound) => bound + 0);
    if (
      this.#bounds.some((bound, index) => index > 0 && bound <= (this.#bounds[index - 1] ?? bound))
    )
      throw new RangeError(
        `Histogram: buckets: found ${this.#bounds.join(', ')}, allowed: numbers in ascending order`,
      );
    this.register(configuration.registers);
  }

  /** Counts an observation. @throws RangeError for wrong labels, or anything but a finite number */
  observe(valueOrData: number | ObserveDataWithExemplar<T>): void;
  observe(labels: LabelValues<T> | undefined, value: number): void;
  observe(first?: number | LabelValues<T> | ObserveDataWithExemplar<T>, value?: number): void {
    if (!isObject(first)) this.observed(NO_LABELS, numberIn(first ?? value));
    else if (!this.enableExemplars) this.observed(first, value);
    else {
      const update = updateOf(first);
      this.observed(update.labels, update.value);
    }
  }

  /** Begins again with a child without observations. */
  zero(labels: LabelValues<T>): void {
    this.child(labels).restart();
  }

  /** Starts a timer. The returned function observes the seconds since the start. */
  startTimer(...[labels = {}]: [LabelValues<T>?, ExemplarLabels?]): EndTimer<T> {
    return timer(labels, (all, seconds) => {
      this.observed(all, seconds);
    });
  }

  /** Removes all children. They come back with their next observations. */
  reset(): void {
    for (const child of this.children) this.drop(child);
  }

  override async get(): Promise<MetricObjectWithValues> {
    const object = await super.get();
    const values = object.values.map(({ sharedLabels, labels, ...value }) => ({
      ...value,
      labels: { ...labels, ...sharedLabels },
    }));
    return { ...object, values };
  }

  /** The values for the text of a registry, with the labels of the child apart. */
  getForPromString(): Promise<MetricObjectWithValues> {
    return super.get();
  }

  protected observed(labels: GivenValues, value: number | undefined): void {
    if (value === undefined || !Number.isFinite(value))
      throw refusal(this.publishedName, 'observe', value, 'a finite number');
    this.child(labels).observe(value);
  }

  protected newChild(labels: GivenLabels): HistogramChild {
    return new HistogramChild(labels, this.family, this.#bounds);
  }

  protected valuesOf(child: HistogramChild): MetricValue[] {
    const { name } = this;
    const { counts, sum, labels: sharedLabels } = child;
    let count = 0;
    const buckets = counts.map((each, index): MetricValue => {
      const le = this.#bounds[index] ?? '+Inf';
      count += each;
      const labels = { le };
      return { labels, sharedLabels, value: count, metricName: `${name}_bucket`, exemplar: null };
    });
    const total = { labels: {}, sharedLabels };
    return [
      ...buckets,
      { ...total, value: sum, metricName: `${name}_sum` },
      { ...total, value: count, metricName: `${name}_count` },
    ];
  }
}

/** The options without a last bound +Inf, which every histogram has. */
function withoutInfinity<T extends string>(
  configuration: HistogramConfiguration<T>,
): HistogramConfiguration<T> {
  // Without options, the base class throws an error that names the class.
  if (!isObject(configuration)) return configuration;
  const { buckets } = configuration;
  return Array.isArray(buckets) && buckets.at(-1) === Infinity
    ? { ...configuration, buckets: buckets.slice(0, -1) }
    : configuration;
}
