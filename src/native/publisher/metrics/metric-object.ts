// A metric and its values as objects, in the form of prom-client.

/** How the registry of a cluster combines the values of its workers. */
export type Aggregator = 'omit' | 'sum' | 'first' | 'min' | 'max' | 'average';
export type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary';

export interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  /** The name of the series, if it differs from that of the metric. */
  readonly metricName?: string;
  /** Labels that the values of one histogram share. */
  readonly sharedLabels?: Readonly<Partial<Record<string, string | number>>>;
  readonly exemplar?: null;
}

/** A metric without its values. */
export interface MetricObject {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly aggregator: Aggregator;
}

/** A metric and its values, as `get()` returns them. */
export interface MetricObjectWithValues extends MetricObject {
  readonly values: readonly MetricValue[];
}

/** Labels that a registry adds to all metrics. */
export type DefaultLabels = Readonly<Record<string, string | number>>;
