// Converts the metrics of an OpenTelemetry SDK to series, with the names of its exporter for Prometheus.
import { DataPointType } from '@opentelemetry/sdk-metrics';
import type { DataPoint, Histogram, MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { RegistryMetric, RegistryValue } from './metrics/mirror.js';

/** The options of OpenTelemetry's exporter for Prometheus that concern names and labels. */
export interface NameOptions {
  /** The beginning of all names, without the last underscore. Default: none. */
  readonly prefix?: string | undefined;
  /** Whether units are part of the names: `http_duration_seconds` for the unit `s`. Default false. */
  readonly unitSuffixes?: boolean | undefined;
  /** Leaves out the labels `otel_scope_name`, `otel_scope_version` and `otel_scope_schema_url`. Default false. */
  readonly withoutScopeInfo?: boolean | undefined;
  /** Leaves out `target_info`, which has the attributes of the resource. Default false. */
  readonly withoutTargetInfo?: boolean | undefined;
  /** Resource attributes that match are labels of all series. Default: none. */
  readonly withResourceConstantLabels?: RegExp | undefined;
}

type Labels = Readonly<Record<string, string>>;
type Attributes = Readonly<Record<string, unknown>>;

/** The words of the units of UCUM that metrics use, as the OpenTelemetry specification states them. */
const UNITS: Readonly<Record<string, string>> = {
  d: 'days',
  h: 'hours',
  min: 'minutes',
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
  By: 'bytes',
  KiBy: 'kibibytes',
  MiBy: 'mebibytes',
  GiBy: 'gibibytes',
  KBy: 'kilobytes',
  MBy: 'megabytes',
  GBy: 'gigabytes',
  m: 'meters',
  V: 'volts',
  A: 'amperes',
  J: 'joules',
  W: 'watts',
  g: 'grams',
  Cel: 'celsius',
  Hz: 'hertz',
  '%': 'percent',
};

/** All metrics, in the form of a registry of prom-client. Exponential histograms are left out. */
export function registryMetrics(
  { resource, scopeMetrics }: ResourceMetrics,
  options: NameOptions,
): RegistryMetric[] {
  const { withResourceConstantLabels: constant, withoutScopeInfo, withoutTargetInfo } = options;
  const ofResource = Object.entries(resource.attributes).filter(
    ([name]) => constant !== undefined && name.search(constant) >= 0,
  );
  const target: RegistryMetric = {
    ...{ name: 'target_info', help: 'Target metadata', type: 'gauge' },
    values: [{ labels: labelsOf(resource.attributes), value: 1 }],
  };
  const metrics = scopeMetrics.flatMap(({ scope, metrics }) => {
    const ofScope = withoutScopeInfo === true ? {} : scopeAttributes(scope);
    const common = { ...ofScope, ...Object.fromEntries(ofResource) };
    return metrics.map((metric) => registryMetric(metric, common, options));
  });
  return withoutTargetInfo === true ? metrics : [target, ...metrics];
}

interface Scope {
  readonly name: string;
  readonly version?: string | undefined;
  readonly schemaUrl?: string | undefined;
}

function scopeAttributes({ name, version = '', schemaUrl = '' }: Scope): Attributes {
  return {
    'otel.scope.name': name,
    ...(schemaUrl === '' ? {} : { 'otel.scope.schema_url': schemaUrl }),
    ...(version === '' ? {} : { 'otel.scope.version': version }),
  };
}

function registryMetric(
  metric: MetricData,
  common: Attributes,
  options: NameOptions,
): RegistryMetric {
  const { descriptor, dataPointType } = metric;
  const name = metricName(metric, options);
  const help = descriptor.description || 'description missing';
  const labels = (attributes: Attributes): Labels => labelsOf({ ...attributes, ...common });
  if (dataPointType === DataPointType.EXPONENTIAL_HISTOGRAM)
    return { name, help, type: 'histogram', values: [] };
  if (dataPointType === DataPointType.HISTOGRAM) {
    const values = metric.dataPoints.flatMap((point) =>
      histogramValues(name, point, labels(point.attributes)),
    );
    return { name, help, type: 'histogram', values };
  }
  const values = metric.dataPoints.map(({ attributes, value }) => ({
    labels: labels(attributes),
    value,
  }));
  return { name, help, type: isCounter(metric) ? 'counter' : 'gauge', values };
}

const isCounter = (metric: MetricData): boolean =>
  metric.dataPointType === DataPointType.SUM && metric.isMonotonic;

function histogramValues(
  name: string,
  { value: { buckets, count, sum = NaN } }: DataPoint<Histogram>,
  labels: Labels,
): RegistryValue[] {
  let cumulative = 0;
  const bounds = buckets.boundaries.filter(Number.isFinite);
  const ofBounds = bounds.map((le, index): RegistryValue => {
    cumulative += buckets.counts[index] ?? 0;
    return { labels: { ...labels, le }, value: cumulative, metricName: `${name}_bucket` };
  });
  return [
    ...ofBounds,
    { labels: { ...labels, le: '+Inf' }, value: count, metricName: `${name}_bucket` },
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ];
}

function metricName(metric: MetricData, { prefix, unitSuffixes }: NameOptions): string {
  const { name, unit } = metric.descriptor;
  const stem = validName(prefix === undefined ? name : `${prefix}_${name}`).replace(/_total$/, '');
  const isTotal = validName(name).endsWith('_total') || isCounter(metric);
  const word = unitSuffixes === true ? unitWord(unit, metric) : '';
  const named = word === '' || stem.endsWith(`_${word}`) ? stem : `${stem}_${word}`;
  return isTotal ? `${named}_total` : named;
}

/** The word for a unit such as `s`, `By/s`, `{request}` or `1`. Gauges with the unit 1 are ratios. */
function unitWord(unit: string, metric: MetricData): string {
  if (unit === '1') return metric.dataPointType === DataPointType.GAUGE ? 'ratio' : '';
  const [of = '', per = ''] = unit.replace(/\{[^}]*\}/g, '').split('/');
  const parts = [UNITS[of] ?? of, per && `per_${(UNITS[per] ?? per).replace(/s$/, '')}`];
  return validName(parts.filter((part) => part !== '').join('_')).replace(/^_|_$/g, '');
}

/** A name for Prometheus: one underscore in place of all characters that it does not allow. */
const validName = (name: string): string =>
  name
    .replace(/[^a-zA-Z0-9_]/g, '_')
    .replace(/_{2,}/g, '_')
    .replace(/^(?=\d)/, '_');

/** The attributes as labels. The values of attributes that have the same label are joined. */
function labelsOf(attributes: Attributes): Labels {
  const labels: Record<string, string> = {};
  for (const [attribute, value] of Object.entries(attributes)) {
    const text = typeof value === 'string' || value === undefined ? value : JSON.stringify(value);
    const name = validName(attribute);
    labels[name] = Object.hasOwn(labels, name) ? `${labels[name]};${text ?? ''}` : (text ?? '');
  }
  return labels;
}
