// The name of a variable that states its series: a metric name, and labels in the syntax of text format 0.0.4.
import type { ValueType } from '../../published.js';

export interface SeriesName {
  /** The name of the metric, such as `http_requests_total`. */
  readonly name: string;
  /** The labels by name, in the order of the text. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The maximum number of labels of a series. */
export const MAX_LABELS = 64;

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** Matches one label at `lastIndex`, with the comma or brace after it. */
const LABEL = /([^="{},]*)="((?:[^"\\\n]|\\[\\"n])*)"([,}])/y;
/** The labels that the formats add to the series of a type. */
const OWN_LABEL: Readonly<Partial<Record<ValueType, string>>> = {
  histogram: 'le',
  summary: 'quantile',
};

/**
 * Parses a text such as `http_requests_total{code="200",method="get"}`. Returns the end of a sentence with the fault if
 * the format does not allow the series.
 */
export function parseSeriesName(text: string, type: ValueType): SeriesName | string {
  const brace = text.indexOf('{');
  const name = brace < 0 ? text : text.slice(0, brace);
  const labels: Record<string, string> = {};
  if (brace < 0) return seriesProblem({ name, labels }, type) ?? { name, labels };
  LABEL.lastIndex = brace + 1;
  for (;;) {
    const [whole, label = '', value = '', end] = LABEL.exec(text) ?? [];
    if (whole === undefined)
      return `is ${shown(text)}, allowed: a metric name, and labels such as {code="200"} with a backslash before ", backslash and n`;
    if (Object.hasOwn(labels, label)) return `has the label ${label} twice`;
    labels[label] = value.replace(/\\(.)/g, (_, escaped: string) =>
      escaped === 'n' ? '\n' : escaped,
    );
    if (end === ',') continue;
    if (LABEL.lastIndex !== text.length) return `is ${shown(text)}, allowed: nothing after }`;
    return seriesProblem({ name, labels }, type) ?? { name, labels };
  }
}

/** The end of a sentence with the fault of a series that the format does not allow; undefined if it allows the series. */
export function seriesProblem({ name, labels }: SeriesName, type: ValueType): string | undefined {
  if (type === 'string') return 'has the type string, allowed: the types of numbers';
  const names = Object.keys(labels);
  if (names.length > MAX_LABELS) return `has more than ${MAX_LABELS} labels`;
  return names.reduce<string | undefined>(
    (problem, label) => problem ?? labelRefusal(label, type),
    nameRefusal(name),
  );
}

/** Writes a series as text. `parseSeriesName` returns the same series if its names are valid. */
export function seriesName(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}

const escaped = (value: string): string =>
  value.replace(/[\\"\n]/g, (each) => (each === '\n' ? '\\n' : `\\${each}`));

function nameRefusal(name: string): string | undefined {
  if (!METRIC_NAME.test(name))
    return `has the metric name ${shown(name)}, allowed: letters, digits, _ and :, not starting with a digit`;
  if (name.startsWith('shm_exporter_'))
    return `has the metric name ${shown(name)}, allowed: names that do not begin with shm_exporter_`;
  return undefined;
}

function labelRefusal(label: string, type: ValueType): string | undefined {
  if (!LABEL_NAME.test(label) || label.startsWith('__'))
    return `has the label name ${shown(label)}, allowed: letters, digits and _, not starting with a digit or __`;
  if (label === OWN_LABEL[type]) return `has the label ${label}, which a ${type} adds itself`;
  return undefined;
}

/** The maximum number of characters of a name in a message. */
const MAX_SHOWN = 128;

const shown = (text: string): string => JSON.stringify(text.slice(0, MAX_SHOWN));
