// A metric and its values as objects, in the form of prom-client.

/** How the registry of a cluster combines the values of its workers. */
export type Aggregator = 'omit' | 'sum' | 'first' | 'min' | 'max' | 'average';
export type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary';

export interface MetricValue<T extends string = string> {
  readonly value: number;
  readonly labels: Readonly<Partial<Record<T, string | number>>>;
  /** The name of the series, if it differs from that of the metric. */
  readonly metricName?: string;
  /** Labels that the values of one histogram share. */
  readonly sharedLabels?: Readonly<Partial<Record<string, string | number>>>;
  readonly exemplar?: null;
}

/** The name that prom-client has for values of histograms and summaries. */
export type MetricValueWithName<T extends string = string> = MetricValue<T>;

/** A metric without its values. */
export interface MetricObject {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly aggregator: Aggregator;
}

/** A metric and its values, as `get()` returns them. */
export interface MetricObjectWithValues<V extends MetricValue = MetricValue> extends MetricObject {
  readonly values: readonly V[];
}

/** Labels that a registry adds to all metrics. */
export type DefaultLabels = Readonly<Record<string, string | number>>;
