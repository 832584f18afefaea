// Converts lines of text into protobuf messages of the package io.prometheus.client, which Prometheus reads.
import type { FamilyMetadata, MetricType } from '../../model.js';

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
const METRIC = { label: 1 };
const LABEL = { name: 1, value: 2 };
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

const [VARINT, FIXED64, LENGTH] = [0, 1, 2];
const DOUBLE_BYTES = 8;
const MAX_VARINT_BYTES = 10;
/** The bytes of one line that do not grow with its labels, at most. */
const LINE_BYTES = 64;
/** A label in protobuf takes less than this many times its bytes as text. */
const GROWTH = 3;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [LINE_FEED, BLANK, EQUALS, BRACE, UNDERSCORE] = [0x0a, 0x20, 0x3d, 0x7b, 0x5f];
const [ZERO, NINE, LETTER_C, LETTER_N, LETTER_S] = [0x30, 0x39, 0x63, 0x6e, 0x73];
/** Integers with this many digits are exact as doubles. */
const EXACT_DIGITS = 15;

/** A buffer of protobuf fields that grows. */
class MessageWriter {
  #bytes: Buffer;
  #view: DataView;
  /** The number of bytes that are written. */
  length = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
    this.#view = viewOf(this.#bytes);
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  /** Ensures space for this many bytes. The methods that write check no bounds. */
  reserve(bytes: number): void {
    if (this.length + bytes <= this.#bytes.length) return;
    const next = Buffer.allocUnsafe(2 * (this.length + bytes));
    this.written.copy(next);
    this.#bytes = next;
    this.#view = viewOf(next);
  }

  varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80))
      this.#bytes[this.length++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.length++] = rest;
  }

  tag(field: number, wireType: number): void {
    this.#bytes[this.length++] = (field << 3) | wireType;
  }

  integer(field: number, value: bigint): void {
    this.tag(field, VARINT);
    let rest = value;
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.length++] = Number(rest);
  }

  copy(bytes: Buffer): void {
    this.length += bytes.copy(this.#bytes, this.length);
  }

  double(field: number, value: number): void {
    this.tag(field, FIXED64);
    this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  text(field: number, value: string): void {
    const bytes = Buffer.from(value);
    this.reserve(bytes.length + LINE_BYTES);
    this.tag(field, LENGTH);
    this.varint(bytes.length);
    this.length += bytes.copy(this.#bytes, this.length);
  }

  /** Copies a part of another buffer. */
  slice(field: number, from: Uint8Array, start: number, end: number): void {
    this.tag(field, LENGTH);
    this.varint(end - start);
    let at = this.length;
    for (let i = start; i < end; i++) this.#bytes[at++] = from[i] ?? 0;
    this.length = at;
  }

  /** Copies the text of a label, with `escapes` backslashes, without its escapes. */
  unescaped(field: number, from: Uint8Array, start: number, end: number, escapes: number): void {
    this.tag(field, LENGTH);
    this.varint(end - start - escapes);
    for (let i = start; i < end; i++) {
      const isEscape = from[i] === BACKSLASH;
      if (isEscape) i++;
      const byte = from[i] ?? 0;
      this.#bytes[this.length++] = isEscape && byte === LETTER_N ? LINE_FEED : byte;
    }
  }

  /** Begins a message; returns the position to pass to `close`. */
  open(field: number): number {
    this.tag(field, LENGTH);
    return this.length++;
  }

  /** Ends a message: writes its length before it. */
  close(position: number): void {
    const bytes = this.length - position - 1;
    if (bytes > 0x7f) {
      this.reserve(MAX_VARINT_BYTES);
      const start = position + 1;
      this.#bytes.copyWithin(start + varintBytes(bytes) - 1, start, this.length);
    }
    this.length = position;
    this.varint(bytes);
    this.length += bytes;
  }
}

const viewOf = ({ buffer, byteOffset, length }: Buffer): DataView =>
  new DataView(buffer, byteOffset, length);

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

/** The positions of the parts of a line. One object serves all lines of a text. */
class LineParts {
  readonly text: Uint8Array;
  readonly #buffer: Buffer;
  /** The position after the name of the family. */
  suffix = 0;
  /** The number of labels. */
  labels = 0;
  /** For each label: the start and end of its name, the start and end of its value, and the number of escapes. */
  readonly #labels: number[] = [];
  #start = 0;
  #value = 0;
  /** The position of the line feed. */
  end = -1;

  constructor(text: Uint8Array) {
    this.text = text;
    this.#buffer = Buffer.from(text.buffer, text.byteOffset, text.length);
  }

  /** Reads the next line; returns false at the end of the text. */
  next(familyBytes: number): boolean {
    const { text } = this;
    const start = this.end + 1;
    if (start >= text.length) return false;
    this.#start = start;
    this.suffix = start + familyBytes;
    this.labels = 0;
    let at = this.suffix;
    while (at < text.length && text[at] !== BRACE && text[at] !== BLANK) at++;
    if (text[at] === BRACE) at = this.#scanLabels(at + 1);
    this.#value = at + 1;
    while (at < text.length && text[at] !== LINE_FEED) at++;
    this.end = at;
    return true;
  }

  /** Writes the first labels as fields of a metric. */
  writeLabels(count: number, out: MessageWriter): void {
    for (let i = 0; i < count; i++) {
      const at = i * 5;
      const [start = 0, end = 0] = [this.#labels[at], this.#labels[at + 1]];
      const [value = 0, valueEnd = 0] = [this.#labels[at + 2], this.#labels[at + 3]];
      const escapes = this.#labels[at + 4] ?? 0;
      const label = out.open(METRIC.label);
      out.slice(LABEL.name, this.text, start, end);
      if (escapes === 0) out.slice(LABEL.value, this.text, value, valueEnd);
      else out.unescaped(LABEL.value, this.text, value, valueEnd, escapes);
      out.close(label);
    }
  }

  /** The first labels as text, to compare them with those of other lines. */
  labelsKey(count: number): string {
    return count === 0 ? '' : this.#latin1(this.#labels[0], this.#labels[count * 5 - 2]);
  }

  /** The value of the last label as a number. */
  get lastLabel(): number {
    const at = this.labels * 5;
    return numberOf(this.#latin1(this.#labels[at - 3], this.#labels[at - 2]));
  }

  get value(): number {
    return numberOf(this.#latin1(this.#value, this.end));
  }

  /** The number of bytes before the value. */
  get prefixBytes(): number {
    return this.#value - this.#start;
  }

  /** The value as a count; undefined if it is none, since a row may show any number as a count. */
  get count(): bigint | undefined {
    const text = this.#latin1(this.#value, this.end);
    return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
  }

  #latin1(start: number | undefined, end: number | undefined): string {
    return this.#buffer.toString('latin1', start, end);
  }

  /** Scans the labels from a position on; returns the position after the closing brace. */
  #scanLabels(start: number): number {
    const { text } = this;
    let at = start;
    for (let field = 0; at < text.length && text[at] !== BLANK; field += 5) {
      this.#labels[field] = at;
      while (at < text.length && text[at] !== EQUALS) at++;
      this.#labels[field + 1] = at;
      at += 2;
      this.#labels[field + 2] = at;
      let escapes = 0;
      for (; at < text.length && text[at] !== QUOTE; at++)
        if (text[at] === BACKSLASH) {
          escapes++;
          at++;
        }
      this.#labels[field + 3] = at;
      this.#labels[field + 4] = escapes;
      this.labels++;
      // After the quote is a comma, or the closing brace and a blank.
      at += 2;
    }
    return at;
  }
}

/** A number as the text formats write it. */
const numberOf = (text: string): number => Number(text.replace('Inf', 'Infinity'));

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
