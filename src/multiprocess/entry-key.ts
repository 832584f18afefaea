// The keys of entries: JSON arrays with the names, labels and help of a series.

/** The library that wrote a key: the keys differ, and so do the meanings of their values. */
export type Dialect = 'python' | 'ruby';

export interface EntryKey {
  readonly dialect: Dialect;
  /** The name of the metric. In the Python dialect, that of a counter lacks the suffix `_total`. */
  readonly family: string;
  /** The name of the series, such as `lat_bucket`. */
  readonly sample: string;
  /** The labels, sorted by name. */
  readonly labels: Readonly<Record<string, string>>;
  readonly help: string;
}

/** The help text of a metric whose key has none, as in the pages of the libraries. */
const NO_HELP = 'Multiprocess metric';

/** The maximum number of bytes of a key. */
export const MAX_KEY_BYTES = 65_536;
/** The maximum number of labels of a key. */
const MAX_LABELS = 64;

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;
/** Matches the strings of a JSON text. */
const STRINGS = /"(?:[^"\\]|\\.)*"/gs;
/** Matches a half of a surrogate pair, which no page can show: it has no UTF-8. */
const HALF = /\p{Surrogate}/u;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a key of at most MAX_KEY_BYTES. Returns a text with its fault if no library writes such a key. */
export function parseKey(bytes: Uint8Array): EntryKey | string {
  let text: string;
  let raw: unknown;
  try {
    text = utf8.decode(bytes);
    raw = JSON.parse(text);
  } catch {
    return 'is no JSON text in UTF-8';
  }
  if (!isArray(raw)) return 'is no JSON array';
  const [family, sample, labels, last] = raw;
  for (const name of [family, sample])
    if (typeof name !== 'string' || !METRIC_NAME.test(name))
      return `has the metric name ${shown(name)}, allowed: letters, digits, _ and :`;
  if (typeof family !== 'string' || typeof sample !== 'string') return 'has no metric name';
  const names = { family, sample };
  if (isArray(labels)) {
    if (raw.length !== 4 || !isArray(last) || labels.length !== last.length)
      return 'has not as many values of labels as names';
    const entries = labels.map((label, index) => [label, rubyValue(last[index])] as const);
    return withLabels({ dialect: 'ruby', ...names, help: NO_HELP }, entries);
  }
  if (raw.length < 3 || raw.length > 4 || !isObject(labels)) return 'has no labels';
  const help = last ?? NO_HELP;
  if (typeof help !== 'string' || HALF.test(help))
    return `has the help ${shown(help)}, allowed: a text in Unicode`;
  const entries = Object.entries(labels);
  // JSON.parse returns only the last of two labels with the same name.
  if (text.match(STRINGS)?.length !== raw.length - 1 + 2 * entries.length)
    return 'repeats a label, or has a value of a label that is no string';
  return withLabels({ dialect: 'python', ...names, help }, entries);
}

/** The text that the Ruby library shows for the value of a label. */
const rubyValue = (value: unknown): unknown =>
  value === null
    ? ''
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : value;

function withLabels(
  key: Omit<EntryKey, 'labels'>,
  entries: readonly (readonly [unknown, unknown])[],
): EntryKey | string {
  if (entries.length > MAX_LABELS)
    return `has ${entries.length} labels, allowed: at most ${MAX_LABELS}`;
  const labels = new Map<string, string>();
  for (const [name, value] of entries) {
    if (typeof name !== 'string' || !LABEL_NAME.test(name))
      return `has the label name ${shown(name)}, allowed: letters, digits and _, not starting with __`;
    if (typeof value !== 'string' || HALF.test(value))
      return `has the label value ${shown(value)}, allowed: a text in Unicode`;
    if (labels.has(name)) return `repeats the label ${name}`;
    labels.set(name, value);
  }
  const sorted = [...labels].sort(([one], [other]) => (one < other ? -1 : 1));
  return { ...key, labels: Object.fromEntries(sorted) };
}

const isArray = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** The maximum number of characters of a text in a message. */
const MAX_SHOWN = 64;

const shown = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_SHOWN));
  return value === undefined ? 'nothing' : `of the type ${isArray(value) ? 'array' : typeof value}`;
};
