// Converts lines of text into protobuf messages of the package io.prometheus.client, which Prometheus reads.
import type { FamilyMetadata, MetricType } from '../../model.js';
import { LineParts, numberOf } from './line-parts.js';
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

const [LINE_FEED, UNDERSCORE] = [0x0a, 0x5f];
const [ZERO, NINE, LETTER_C, LETTER_S] = [0x30, 0x39, 0x63, 0x73];
/** Integers with this many digits are exact as doubles. */
const EXACT_DIGITS = 15;

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
  /** Where the values are; undefined if the lengths of the messages depend on them. */
  readonly places: ValuePlaces | undefined;
}

/** Where the values of lines are in their text and in their messages. */
export interface ValuePlaces {
  /** The number of bytes of each line before its value. */
  readonly prefixes: Uint32Array;
  /** The position of each double in the messages. */
  readonly doubles: Uint32Array;
}

/** Writes the values of a text into the messages of the same lines. */
export function setValues(
  text: Uint8Array,
  { prefixes, doubles }: ValuePlaces,
  messages: Uint8Array,
): void {
  const view = new DataView(messages.buffer, messages.byteOffset, messages.length);
  const decoder = Buffer.from(text.buffer, text.byteOffset, text.length);
  let at = 0;
  for (let line = 0; line < doubles.length; line++) {
    at += prefixes[line] ?? 0;
    const start = at;
    let value = 0;
    let byte = text[at] ?? LINE_FEED;
    // Fast path: most values are short integers.
    while (byte >= ZERO && byte <= NINE) {
      value = value * 10 + (byte - ZERO);
      byte = text[++at] ?? LINE_FEED;
    }
    if (byte !== LINE_FEED || at - start > EXACT_DIGITS) {
      at = decoder.indexOf(LINE_FEED, at);
      value = numberOf(decoder.toString('latin1', start, at));
    }
    view.setFloat64(doubles[line] ?? 0, value, true);
    at++;
  }
}

/** Whether a family states the start times of its metrics. */
export const hasStarts = ({ type }: FamilyMetadata): boolean => CREATED[type] !== undefined;

/** Writes start times. Most metrics of a family have the same one, so the last one is kept. */
class CreatedWriter {
  readonly #field: number | undefined;
  #last: number | undefined;
  #bytes: Buffer = Buffer.alloc(0);

  constructor({ type }: FamilyMetadata) {
    this.#field = CREATED[type];
  }

  write(unixMs: number | undefined, out: MessageWriter): void {
    if (this.#field === undefined || unixMs === undefined) return;
    // A JVM may state any number. A negative one would make the page unreadable.
    if (!(unixMs >= 0 && unixMs <= Number.MAX_SAFE_INTEGER)) return;
    if (unixMs !== this.#last) this.#bytes = this.#encoded(this.#field, unixMs);
    this.#last = unixMs;
    out.copy(this.#bytes);
  }

  #encoded(field: number, unixMs: number): Buffer {
    const out = new MessageWriter(LINE_BYTES);
    const timestamp = out.open(field);
    const seconds = Math.floor(unixMs / 1000);
    out.tag(TIMESTAMP.seconds, VARINT);
    out.varint(seconds);
    out.tag(TIMESTAMP.nanos, VARINT);
    out.varint(Math.round((unixMs - seconds * 1000) * 1e6));
    out.close(timestamp);
    return out.written;
  }
}

const UNKNOWN: StartOfLine = () => undefined;

/** Writes a family with one line per metric: a counter, gauge or untyped family. */
class NumberWriter implements MetricWriter {
  readonly #nameBytes: number;
  readonly #field: number;
  readonly #created: CreatedWriter;
  readonly #out: MessageWriter;
  readonly places: { readonly prefixes: Uint32Array; readonly doubles: Uint32Array };
  #lines = 0;

  constructor(family: FamilyMetadata, bytes: number, lines: number) {
    this.places = { prefixes: new Uint32Array(lines), doubles: new Uint32Array(lines) };
    this.#nameBytes = family.name.length;
    this.#field = MESSAGE_TYPES[family.type].field;
    this.#created = new CreatedWriter(family);
    this.#out = new MessageWriter(bytes + LINE_BYTES);
  }

  add(lines: Uint8Array, startOf: StartOfLine = UNKNOWN): void {
    const out = this.#out;
    const { prefixes, doubles } = this.places;
    const line = new LineParts(lines);
    for (let start = 0, index = 0; line.next(this.#nameBytes); start = line.end, index++) {
      out.reserve(GROWTH * (line.end - start) + LINE_BYTES);
      const metric = out.open(FAMILY.metric);
      line.writeLabels(line.labels, out);
      const number = out.open(this.#field);
      out.double(NUMBER.value, line.value);
      const double = out.length - DOUBLE_BYTES;
      this.#created.write(startOf(index), out);
      const fromEnd = out.length - double;
      out.close(number);
      out.close(metric);
      const at = this.#lines++;
      prefixes[at] = line.prefixBytes;
      doubles[at] = out.length - fromEnd;
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
  hasSum: boolean;
  hasCount: boolean;
}

/**
 * Writes histograms or summaries: consecutive lines with the same labels, except `le` and `quantile`. Leaves out one
 * that lacks its sum or count because of a limit: Prometheus would read 0.
 */
class DistributionWriter implements MetricWriter {
  readonly #family: FamilyMetadata;
  readonly #created: CreatedWriter;
  readonly #out: MessageWriter;
  readonly places = undefined;
  #open: OpenMetric | undefined;

  constructor(family: FamilyMetadata, bytes: number) {
    this.#family = family;
    this.#created = new CreatedWriter(family);
    this.#out = new MessageWriter(bytes + LINE_BYTES);
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
      if (isSum) {
        open.hasSum = true;
        this.#out.double(DISTRIBUTION.sum, line.value);
      } else if (isCount) {
        const { count } = line;
        if (count === undefined) continue;
        open.hasCount = true;
        this.#out.integer(DISTRIBUTION.count, count);
      } else this.#writeStep(line, type === 'histogram');
    }
  }

  end(): Buffer {
    this.#close();
    return this.#out.written;
  }

  #writeStep(line: LineParts, isHistogram: boolean): void {
    const out = this.#out;
    const step = out.open(DISTRIBUTION.step);
    if (isHistogram) {
      out.integer(BUCKET.count, line.count ?? 0n);
      out.double(BUCKET.bound, line.lastLabel);
    } else {
      out.double(QUANTILE.quantile, line.lastLabel);
      out.double(QUANTILE.value, line.value);
    }
    out.close(step);
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
      ...{ labels: key, metric, distribution, start: start() },
      ...{ hasSum: false, hasCount: false },
    };
    this.#open = open;
    return open;
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    if (!open.hasSum || !open.hasCount) {
      // Remove the message with its tag.
      this.#out.length = open.metric - 1;
      return;
    }
    this.#out.reserve(LINE_BYTES);
    this.#created.write(open.start, this.#out);
    this.#out.close(open.distribution);
    this.#out.close(open.metric);
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
    ? new DistributionWriter(family, bytes)
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
