// Converts lines of text into protobuf messages of the package io.prometheus.client, which Prometheus reads.
import type { FamilyMetadata, MetricType } from '../../model.js';
import { COUNT_BYTES, IS_COUNT } from '../wasm/layout.js';
import { LineParts } from './line-parts.js';
import { MAX_VARINT_BYTES, MessageWriter, VARINT } from './message-writer.js';

/** The type of a family in protobuf, and the field of `Metric` with its values. */
interface MessageType {
  readonly type: number;
  readonly field: number;
}

const GAUGE: MessageType = { type: 1, field: 2 };
const MESSAGE_TYPES: Readonly<Record<MetricType, MessageType>> = {
  counter: { type: 0, field: 3 },
  gauge: GAUGE,
  info: GAUGE,
  stateset: GAUGE,
  summary: { type: 2, field: 4 },
  unknown: { type: 3, field: 5 },
  histogram: { type: 4, field: 7 },
};

/** Field numbers of the messages. */
const FAMILY = { name: 1, help: 2, type: 3, metric: 4, unit: 5 };
const NUMBER = { value: 1 };
const DISTRIBUTION = { count: 1, sum: 2, step: 3 };
/** The field with the start time of each type that has one. */
const CREATED: Readonly<Partial<Record<MetricType, number>>> = {
  counter: 3,
  summary: 4,
  histogram: 15,
};
const TIMESTAMP = { seconds: 1, nanos: 2 };
const BUCKET = { count: 1, bound: 2 };
const QUANTILE = { quantile: 1, value: 2 };

const DOUBLE_BYTES = 8;
/** The bytes of one line that do not grow with its labels, at most. */
const LINE_BYTES = 64;
/** A label in protobuf takes less than this many times its bytes as text. */
const GROWTH = 3;

const [UNDERSCORE, LETTER_C, LETTER_S] = [0x5f, 0x63, 0x73];

/** The start of the metric of a line, in Unix milliseconds; undefined if it is unknown. */
export type StartOfLine = (line: number) => number | undefined;

/** The lines of a family as messages. */
export interface MetricWriter {
  /**
   * Adds lines. A histogram or summary may continue in the lines that are added next.
   * @param startOf returns the start of the first line for 0
   */
  add(lines: Uint8Array, startOf?: StartOfLine): void;
  /** The fields `metric` of the family. Call it once. */
  end(): Buffer;
  /**
   * The place of the value of each line, as the kernel reads it (wasm/layout.ts); undefined if the length of a message
   * depends on its values.
   */
  readonly places: Uint32Array | undefined;
}

/** Whether a family states the start times of its metrics. */
export const hasStarts = ({ type }: FamilyMetadata): boolean => CREATED[type] !== undefined;

/** Whether a start can be stated. A JVM may state any number, and a negative one would make a page unreadable. */
export const isValidStart = (unixMs: number | undefined): unixMs is number =>
  unixMs !== undefined && unixMs >= 0 && unixMs <= Number.MAX_SAFE_INTEGER;

/** Writes the start of a metric, if it can be stated. */
function writeStart(type: MetricType, unixMs: number | undefined, out: MessageWriter): void {
  const field = CREATED[type];
  if (field === undefined || !isValidStart(unixMs)) return;
  const timestamp = out.open(field);
  const seconds = Math.floor(unixMs / 1000);
  out.tag(TIMESTAMP.seconds, VARINT);
  out.varint(seconds);
  out.tag(TIMESTAMP.nanos, VARINT);
  out.varint(Math.round((unixMs - seconds * 1000) * 1e6));
  out.close(timestamp);
}

const UNKNOWN: StartOfLine = () => undefined;

/** Writes a family with one line per metric: a counter, gauge or untyped family. */
class NumberWriter implements MetricWriter {
  readonly #family: FamilyMetadata;
  readonly #out: MessageWriter;
  readonly places: Uint32Array;
  #lines = 0;

  constructor(family: FamilyMetadata, bytes: number, lines: number) {
    this.places = new Uint32Array(lines);
    this.#family = family;
    this.#out = new MessageWriter(bytes + LINE_BYTES);
  }

  add(lines: Uint8Array, startOf: StartOfLine = UNKNOWN): void {
    const { name, type } = this.#family;
    const { field } = MESSAGE_TYPES[type];
    const out = this.#out;
    const line = new LineParts(lines);
    for (let start = 0, index = 0; line.next(name.length); start = line.end, index++) {
      out.reserve(GROWTH * (line.end - start) + LINE_BYTES);
      const metric = out.open(FAMILY.metric);
      line.writeLabels(line.labels, out);
      const number = out.open(field);
      out.double(NUMBER.value, line.value);
      const double = out.length - DOUBLE_BYTES;
      writeStart(type, startOf(index), out);
      const fromEnd = out.length - double;
      out.close(number);
      out.close(metric);
      this.places[this.#lines++] = out.length - fromEnd;
    }
  }

  end(): Buffer {
    return this.#out.written;
  }
}

/** The message of a histogram or summary that is being written. */
interface OpenMetric {
  readonly labels: string;
  readonly metric: number;
  readonly distribution: number;
  readonly start: number | undefined;
  /** The number of lines before it. */
  readonly firstLine: number;
  hasSum: boolean;
  hasCount: boolean;
}

/**
 * Writes histograms or summaries: consecutive lines with the same labels, except `le` and `quantile`. Leaves out one
 * that lacks its sum or count because of a limit: Prometheus would read 0.
 */
class DistributionWriter implements MetricWriter {
  readonly #family: FamilyMetadata;
  readonly #out: MessageWriter;
  readonly #places: Uint32Array;
  #lines = 0;
  /** Whether a line shows a number that is no count as one, so that its metric or bucket has no place for it. */
  #hasNoCount = false;
  #open: OpenMetric | undefined;

  constructor(family: FamilyMetadata, bytes: number, lines: number) {
    this.#places = new Uint32Array(lines);
    this.#family = family;
    this.#out = new MessageWriter(bytes + LINE_BYTES);
  }

  get places(): Uint32Array | undefined {
    return this.#hasNoCount ? undefined : this.#places;
  }

  add(lines: Uint8Array, startOf: StartOfLine = UNKNOWN): void {
    const { name, type } = this.#family;
    const line = new LineParts(lines);
    for (let start = 0, index = 0; line.next(name.length); start = line.end, index++) {
      this.#out.reserve(GROWTH * (line.end - start) + LINE_BYTES);
      // The second character of the suffix: `_sum`, `_count`, or that of a bucket or quantile.
      const suffix = lines[line.suffix] === UNDERSCORE ? lines[line.suffix + 1] : undefined;
      const isSum = suffix === LETTER_S;
      const isCount = suffix === LETTER_C;
      const labels = isSum || isCount ? line.labels : line.labels - 1;
      const open = this.#opened(line, labels, () => startOf(index));
      this.#places[this.#lines++] = isSum
        ? this.#writeSum(open, line)
        : isCount
          ? this.#writeCount(open, line)
          : this.#writeStep(line, type === 'histogram');
    }
  }

  end(): Buffer {
    this.#close();
    return this.#out.written;
  }

  // These methods return the place of the value.

  #writeSum(open: OpenMetric, line: LineParts): number {
    open.hasSum = true;
    this.#out.double(DISTRIBUTION.sum, line.value);
    return this.#out.length - DOUBLE_BYTES;
  }

  #writeCount(open: OpenMetric, line: LineParts): number {
    const count = this.#countOf(line);
    if (count === undefined) return 0;
    open.hasCount = true;
    this.#out.count(DISTRIBUTION.count, count);
    return (this.#out.length - COUNT_BYTES) | IS_COUNT;
  }

  #writeStep(line: LineParts, isHistogram: boolean): number {
    const out = this.#out;
    const step = out.open(DISTRIBUTION.step);
    let place: number;
    if (isHistogram) {
      out.count(BUCKET.count, this.#countOf(line) ?? 0n);
      place = (out.length - COUNT_BYTES) | IS_COUNT;
      out.double(BUCKET.bound, line.lastLabel);
    } else {
      out.double(QUANTILE.quantile, line.lastLabel);
      out.double(QUANTILE.value, line.value);
      place = out.length - DOUBLE_BYTES;
    }
    out.close(step);
    return place;
  }

  #countOf(line: LineParts): bigint | undefined {
    const { count } = line;
    this.#hasNoCount ||= count === undefined;
    return count;
  }

  /** The message to which a line with these labels belongs. */
  #opened(line: LineParts, labels: number, start: () => number | undefined): OpenMetric {
    const key = line.labelsKey(labels);
    if (this.#open?.labels === key) return this.#open;
    this.#close();
    const out = this.#out;
    const metric = out.open(FAMILY.metric);
    line.writeLabels(labels, out);
    const distribution = out.open(MESSAGE_TYPES[this.#family.type].field);
    const open = {
      ...{ labels: key, metric, distribution, start: start(), firstLine: this.#lines },
      ...{ hasSum: false, hasCount: false },
    };
    this.#open = open;
    return open;
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    const places = this.#places.subarray(open.firstLine, this.#lines);
    if (!open.hasSum || !open.hasCount) {
      // Remove the message with its tag.
      this.#out.length = open.metric - 1;
      places.fill(0);
      return;
    }
    this.#out.reserve(LINE_BYTES);
    writeStart(this.#family.type, open.start, this.#out);
    const { length } = this.#out;
    this.#out.close(open.distribution);
    this.#out.close(open.metric);
    // Longer lengths have moved the values.
    const growth = this.#out.length - length;
    if (growth > 0) places.forEach((place, index) => (places[index] = place + growth));
  }
}

export const isDistribution = ({ type }: FamilyMetadata): boolean =>
  type === 'histogram' || type === 'summary';

/**
 * @param bytes of the lines, approximately
 * @param lines the number of lines whose places it notes
 */
export const metricWriter = (family: FamilyMetadata, bytes: number, lines = 0): MetricWriter =>
  isDistribution(family)
    ? new DistributionWriter(family, bytes, lines)
    : new NumberWriter(family, bytes, lines);

/**
 * The fields of a family except the metrics.
 * @param unit the unit, or '' if the name does not end in it
 */
export function familyFields({ name, help, type }: FamilyMetadata, unit: string): Buffer {
  const out = new MessageWriter(name.length + 2 * help.length + LINE_BYTES);
  out.text(FAMILY.name, name);
  out.text(FAMILY.help, help);
  out.reserve(LINE_BYTES);
  out.tag(FAMILY.type, VARINT);
  out.varint(MESSAGE_TYPES[type].type);
  if (unit !== '') out.text(FAMILY.unit, unit);
  return out.written;
}

/** A length, as it precedes a message. */
export function lengthOf(bytes: number): Buffer {
  const out = new MessageWriter(MAX_VARINT_BYTES);
  out.varint(bytes);
  return out.written;
}
