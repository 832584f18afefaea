// Decodes protobuf pages with protobufjs and the public schema, independently of the exporter.
import protobuf from 'protobufjs';
import type { Sample } from '#app/model.js';
import { samplesIn } from '#app/exposition/text/text-syntax.js';

/**
 * The messages that pages use, from io/prometheus/client/metrics.proto of github.com/prometheus/client_model, version
 * 0.6.2 (Apache License 2.0), and Timestamp from google/protobuf/timestamp.proto.
 */
const SCHEMA = `
syntax = "proto2";
package io.prometheus.client;
message Timestamp { optional int64 seconds = 1; optional int32 nanos = 2; }
message LabelPair { optional string name = 1; optional string value = 2; }
enum MetricType {
  COUNTER = 0; GAUGE = 1; SUMMARY = 2; UNTYPED = 3; HISTOGRAM = 4; GAUGE_HISTOGRAM = 5;
}
message Gauge { optional double value = 1; }
message Counter { optional double value = 1; optional Timestamp created_timestamp = 3; }
message Quantile { optional double quantile = 1; optional double value = 2; }
message Summary {
  optional uint64 sample_count = 1;
  optional double sample_sum = 2;
  repeated Quantile quantile = 3;
  optional Timestamp created_timestamp = 4;
}
message Untyped { optional double value = 1; }
message Histogram {
  optional uint64 sample_count = 1;
  optional double sample_sum = 2;
  repeated Bucket bucket = 3;
  optional Timestamp created_timestamp = 15;
}
message Bucket { optional uint64 cumulative_count = 1; optional double upper_bound = 2; }
message Metric {
  repeated LabelPair label = 1;
  optional Gauge gauge = 2;
  optional Counter counter = 3;
  optional Summary summary = 4;
  optional Untyped untyped = 5;
  optional Histogram histogram = 7;
  optional int64 timestamp_ms = 6;
}
message MetricFamily {
  optional string name = 1;
  optional string help = 2;
  optional MetricType type = 3;
  repeated Metric metric = 4;
  optional string unit = 5;
}`;

const MetricFamily = protobuf
  .parse(SCHEMA, { keepCase: true })
  .root.lookupType('io.prometheus.client.MetricFamily');

interface Label {
  readonly name: string;
  readonly value: string;
}

interface Started {
  readonly created_timestamp?: { readonly seconds: string; readonly nanos: number };
}

interface Value extends Started {
  readonly value: number;
}

interface Distribution extends Started {
  /** In decimal. */
  readonly sample_count: string;
  readonly sample_sum: number;
  readonly bucket?: readonly { readonly cumulative_count: string; readonly upper_bound: number }[];
  readonly quantile?: readonly { readonly quantile: number; readonly value: number }[];
}

interface Metric {
  readonly label?: readonly Label[];
  readonly gauge?: Value;
  readonly counter?: Value;
  readonly untyped?: Value;
  readonly summary?: Distribution;
  readonly histogram?: Distribution;
}

export interface DecodedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly unit?: string;
  readonly metric: readonly Metric[];
}

/** The families of a page. */
export function decodedFamilies(page: Uint8Array): readonly DecodedFamily[] {
  const reader = protobuf.Reader.create(page);
  const families: DecodedFamily[] = [];
  while (reader.pos < reader.len) {
    const message = MetricFamily.decodeDelimited(reader);
    families.push(
      MetricFamily.toObject(message, { longs: String, enums: String }) as DecodedFamily,
    );
  }
  return families;
}

/** Labels and value of each metric in fields `metric` of gauges. */
export const decodedGauges = (fields: Uint8Array): readonly (readonly [string, string])[] =>
  (
    MetricFamily.toObject(MetricFamily.decode(fields), { longs: String }) as Partial<DecodedFamily>
  ).metric?.map(({ label = [], gauge }) => [
    seriesOf('', label),
    gauge === undefined ? 'no value' : numberText(gauge.value),
  ]) ?? [];

/** Labels and value of each line of gauges, whatever its name is. */
export const gaugesOfText = (lines: string): readonly (readonly [string, string])[] =>
  [...samplesIn(lines)].map((sample) => textSample({ ...sample, name: '' }, new Map()));

/** The start times of counters, histograms and summaries in Unix milliseconds, by name and labels. */
export const decodedStarts = (
  families: readonly DecodedFamily[],
): Readonly<Record<string, number | undefined>> =>
  Object.fromEntries(
    families.flatMap(({ name, metric }) =>
      metric.map(({ label = [], ...values }) => {
        const { counter, histogram, summary, gauge, untyped } = values;
        const { created_timestamp: created } =
          counter ?? histogram ?? summary ?? gauge ?? untyped ?? {};
        const start = created && Number(created.seconds) * 1000 + created.nanos / 1e6;
        return [seriesOf(name, label), start];
      }),
    ),
  );

/** A series with its value. Integers are in decimal; other numbers are as JavaScript writes them. */
type Series = readonly [series: string, value: string];

const seriesOf = (name: string, labels: readonly Label[]): string =>
  `${name}${JSON.stringify(labels.map(({ name: label, value }) => [label, value]))}`;

const numberText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));

/** The series of a decoded page, in its order, as the text formats name them. */
export const decodedSeries = (families: readonly DecodedFamily[]): readonly Series[] =>
  families.flatMap(({ name, metric }) => metric.flatMap((each) => seriesOfMetric(name, each)));

function seriesOfMetric(name: string, metric: Metric): readonly Series[] {
  const { label = [], gauge, counter, untyped, summary, histogram } = metric;
  const number = gauge ?? counter ?? untyped;
  if (number !== undefined) return [[seriesOf(name, label), numberText(number.value)]];
  const all = summary ?? histogram;
  if (all === undefined) return [[seriesOf(name, label), 'no value']];
  const { bucket = [], quantile = [], sample_sum: sum, sample_count: count } = all;
  const step = (suffix: string, key: string, bound: number, value: string): Series => [
    seriesOf(name + suffix, [...label, { name: key, value: numberText(bound) }]),
    value,
  ];
  return [
    ...bucket.map((each) => step('_bucket', 'le', each.upper_bound, each.cumulative_count)),
    ...quantile.map((each) => step('', 'quantile', each.quantile, numberText(each.value))),
    [seriesOf(`${name}_sum`, label), numberText(sum)],
    [seriesOf(`${name}_count`, label), count],
  ];
}

/** The series of a page of text 0.0.4, in its order. */
export function textSeries(page: string): readonly Series[] {
  const types = new Map<string, string>();
  const series: Series[] = [];
  for (const line of page.split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined && type !== undefined) types.set(name, type);
    if (line === '' || line.startsWith('#')) continue;
    for (const sample of samplesIn(`${line}\n`)) series.push(textSample(sample, types));
  }
  return series;
}

function textSample(sample: Sample, types: ReadonlyMap<string, string>): Series {
  const { name, labels, value } = sample;
  const type = types.get(name.replace(/_(?:bucket|sum|count)$/, ''));
  const isCount = (type === 'histogram' || type === 'summary') && /_(?:bucket|count)$/.test(name);
  const all = Object.entries(labels).map(([label, text]) => ({
    name: label,
    value:
      (label === 'le' && type === 'histogram') ||
      (label === 'quantile' && types.get(name) === 'summary')
        ? numberText(numberOf(text))
        : text,
  }));
  return [seriesOf(name, all), isCount ? value : numberText(numberOf(value))];
}

const numberOf = (text: string): number => Number(text.replace('Inf', 'Infinity'));
