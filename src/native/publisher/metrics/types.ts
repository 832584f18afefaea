// The types of the metrics, under the names that prom-client has for them.
export type { LabelValues } from './children.js';
export type { CounterChild, CounterConfiguration, IncreaseDataWithExemplar } from './counter.js';
export type { GaugeChild, GaugeConfiguration } from './gauge.js';
export type {
  HistogramChild,
  HistogramConfiguration,
  ObserveDataWithExemplar,
} from './histogram.js';
export type { InfoConfiguration } from './info.js';
export type { CollectFunction, MetricConfiguration } from './metric.js';
export type { Publication, PublishOptions } from './publish.js';
export type {
  Aggregator,
  MetricObject,
  MetricObjectWithValues,
  MetricType,
  MetricValue,
  MetricValueWithName,
} from './metric-object.js';
export type {
  Charset,
  OpenMetricsContentType,
  OpenMetricsMIME,
  OpenMetricsVersion,
  PrometheusContentType,
  PrometheusMIME,
  PrometheusMetricsVersion,
  RegisteredMetric,
  RegistryContentType,
} from './registry.js';
export type { SummaryChild, SummaryConfiguration } from './summary.js';
export type { EndTimer } from './updates.js';
