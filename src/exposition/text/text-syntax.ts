// Header lines, names, labels and values of series, as the text formats write them.
import type { FamilyMetadata, InternalMetric, MetricType, Piece, Sample } from '../../model.js';

/** A number in the exposition formats; bigints are exact. */
export const numberText = (x: number | bigint): string =>
  typeof x === 'bigint' ? String(x) : floatText(x);

/** A double in the exposition formats: the shortest text that reads back as the same value. */
export function floatText(x: number): string {
  if (x === Infinity) return '+Inf';
  if (x === -Infinity) return '-Inf';
  return Object.is(x, -0) ? '-0' : String(x);
}

export type Labels = Readonly<Record<string, string>>;

const escapeLabel = (text: string) =>
  !/[\\"\n]/.test(text) ? text : text.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));

const unescapeLabel = (text: string) =>
  !text.includes('\\') ? text : text.replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c));

/** Labels as the text between the braces. Labels with an empty value are omitted, unless `keepsEmpty` is set. */
export function labelsText(labels: Labels, keepsEmpty = false): string {
  let text = '';
  for (const key in labels) {
    const value = labels[key] ?? '';
    if (keepsEmpty || value !== '')
      text += `${text === '' ? '' : ','}${key}="${escapeLabel(value)}"`;
  }
  return text;
}

/** Name and labels of a series, from the result of `labelsText`. */
export const seriesText = (name: string, labels: string): string =>
  labels === '' ? name : `${name}{${labels}}`;

/** A line with one series. */
export const sampleText = (sample: Pick<InternalMetric, 'name' | 'labels' | 'value'>): string =>
  `${seriesText(sample.name, labelsText(sample.labels ?? {}))} ${numberText(sample.value)}\n`;

/** The text between the name of a series and its value, from the result of `labelsText`. */
export const labelsPart = (labels: string): string => (labels === '' ? ' ' : `{${labels}} `);

/** The labels of a result of `labelsPart`. */
export const labelsIn = (part: string): string => part.slice(1, -2);

/** Parses the result of `seriesText`. Names have no brace, so the first brace begins the labels. */
export function decodeSeries(series: string): { readonly name: string; readonly labels: Labels } {
  const brace = series.indexOf('{');
  return brace < 0
    ? { name: series, labels: {} }
    : { name: series.slice(0, brace), labels: decodeLabels(series, brace + 1, series.length - 1) };
}

/** Parses the result of `labelsText`, from `start` to `end` of a text. */
function decodeLabels(text: string, start: number, end: number): Labels {
  const labels: [string, string][] = [];
  for (let at = start; at < end;) {
    const equals = text.indexOf('=', at);
    if (equals < 0) break;
    const quote = closingQuote(text, equals + 2);
    labels.push([text.slice(at, equals), unescapeLabel(text.slice(equals + 2, quote))]);
    at = quote + 2;
  }
  return Object.fromEntries(labels);
}

/** The index of the first quote that no backslash escapes, or the end of the text. */
function closingQuote(text: string, start: number): number {
  let quote = text.indexOf('"', start);
  while (quote >= 0) {
    let slash = quote;
    while (text[slash - 1] === '\\') slash--;
    if ((quote - slash) % 2 === 0) return quote;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

/** Joins two results of `labelsText`. */
export const joinLabels = (a: string, b: string): string =>
  a === '' ? b : b === '' ? a : `${a},${b}`;

/** The types of text 0.0.4; info metrics and state sets become gauges. */
const TYPES: Record<MetricType, string> = {
  counter: 'counter',
  gauge: 'gauge',
  histogram: 'histogram',
  summary: 'summary',
  info: 'gauge',
  stateset: 'gauge',
  unknown: 'untyped',
};

const escapeHelp = (text: string) => text.replace(/[\\\n]/g, (c) => (c === '\n' ? '\\n' : '\\\\'));

/** The header of text 0.0.4. */
export const headerText = ({ name, type, help }: FamilyMetadata): string =>
  `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${TYPES[type]}\n`;

/** Parses lines as samples. */
export function* samplesIn(text: string): Generator<Sample> {
  for (let start = 0; start < text.length;) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    const blank = text.lastIndexOf(' ', end);
    const series = decodeSeries(text.slice(start, blank));
    yield { ...series, value: text.slice(blank + 1, end) };
    start = end + 1;
  }
}

/** The text of a piece, whose memory other threads may share. */
export const textOf = ({ data }: Pick<Piece, 'data'>): string =>
  Buffer.from(data.buffer, data.byteOffset, data.length).toString();
