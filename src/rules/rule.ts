// Rules check raw TOML values, convert them and describe the allowed values.
import { hint } from '../document/nearest.js';
import { keyPath, shown } from '../document/document.js';
import type { Path } from '../document/document.js';

/** Reports one problem with the value at `path`, or with its key if `mark` is `key`. */
export type ReportProblem = (path: Path, sentence: string, mark?: 'key') => void;

export interface Rule<T> {
  /** The TOML type, for the reference page. */
  readonly type: string;
  /** The allowed values, in words that follow "allowed:". */
  readonly allowed: string;
  /** All allowed values, if they are a few words. */
  readonly choices?: readonly string[];
  /**
   * Reads one raw TOML value: string, bigint, number (floats only), boolean, array or table. Reports every error in the
   * value. Returns the valid part of the value, or undefined if no part is valid.
   */
  read(raw: unknown, path: Path, report: ReportProblem): T | undefined;
}

/**
 * Makes a rule.
 * @param accept returns undefined for invalid values
 * @param guess returns a suggestion for an invalid value, in brackets; empty for none
 */
export function rule<T>(
  type: string,
  allowed: string,
  accept: (raw: unknown) => T | undefined,
  guess: (raw: unknown) => string = () => '',
): Rule<T> {
  const read = (raw: unknown, path: Path, report: ReportProblem) => {
    const value = accept(raw);
    if (value === undefined) report(path, `found ${shown(raw)}${guess(raw)}, allowed: ${allowed}`);
    return value;
  };
  return { type, allowed, read };
}

/** Replaces the suggestion of a rule. @param guess as for `rule` */
export const suggesting = <T>(inner: Rule<T>, guess: (raw: unknown) => string): Rule<T> =>
  rule(inner.type, inner.allowed, (raw) => inner.read(raw, [], () => undefined), guess);

/** Adds a check to a rule. `check` gets only values whose parts are all valid. */
export const refined = <T>(
  inner: Rule<T>,
  check: (value: T, path: Path, report: ReportProblem) => void,
): Rule<T> => ({
  ...inner,
  read(raw, path, report) {
    const { value, isWhole } = readWhole(inner, raw, path, report);
    if (value !== undefined && isWhole) check(value, path, report);
    return value;
  },
});

/**
 * Adds to each item its index in the list of the file. Its index in the result may differ, since a list rule leaves
 * out invalid items.
 */
export const indexed = <T extends object>(
  inner: Rule<T>,
): Rule<T & { readonly index: number }> => ({
  ...inner,
  read(raw, path, report) {
    const value = inner.read(raw, path, report);
    return value && Object.freeze({ ...value, index: Number(path.at(-1)) });
  },
});

/** Reads a value. `isWhole` is true if the value has no problem. */
function readWhole<T>(inner: Rule<T>, raw: unknown, path: Path, report: ReportProblem) {
  let isWhole = true;
  const value = inner.read(raw, path, (...problem) => {
    isWhole = false;
    report(...problem);
  });
  return { value, isWhole };
}

export const flag: Rule<boolean> = rule(
  'boolean',
  'true or false',
  (raw) => (typeof raw === 'boolean' ? raw : undefined),
  (raw) =>
    typeof raw === 'string' || typeof raw === 'bigint'
      ? (FLAGS.get(String(raw).toLowerCase()) ?? '')
      : '',
);

/** Suggestions for values that are booleans in other languages. */
const FLAGS = new Map([
  ...['true', 'yes', 'on', '1'].map((word) => [word, ' (write true)'] as const),
  ...['false', 'no', 'off', '0'].map((word) => [word, ' (write false)'] as const),
]);

export const integer = (min: number, max: number): Rule<number> =>
  rule('integer', `an integer from ${min} to ${max}`, (raw) =>
    typeof raw === 'bigint' && raw >= min && raw <= max ? Number(raw) : undefined,
  );

/** Finite numbers, whole or not, that `fits` accepts; `allowed` describes them. */
export const number = (
  allowed = 'a finite number',
  fits: (value: number) => boolean = () => true,
): Rule<number> =>
  rule('number', allowed, (raw) => {
    const value = typeof raw === 'bigint' ? Number(raw) : raw;
    return typeof value === 'number' && Number.isFinite(value) && fits(value) ? value : undefined;
  });

/** Numbers between two bounds, both included. */
export const between = (min: number, max: number): Rule<number> =>
  number(`a number from ${min} to ${max}`, (value) => value >= min && value <= max);

export const anyText: Rule<string> = rule('string', 'a string', (raw) =>
  typeof raw === 'string' ? raw : undefined,
);

/** Strings that `shape` matches; `allowed` describes them. */
export const text = (
  shape: RegExp,
  allowed: string,
  guess?: (raw: unknown) => string,
): Rule<string> =>
  rule(
    'string',
    allowed,
    (raw) => (typeof raw === 'string' && shape.test(raw) ? raw : undefined),
    guess,
  );

/**
 * A rule for strings. `found` describes the fault of an invalid string, or returns undefined for a valid one; `other`
 * describes a value that is not a string.
 */
export const judged = (
  allowed: string,
  found: (raw: string) => string | undefined,
  other: (raw: unknown) => string = shown,
): Rule<string> => ({
  type: 'string',
  allowed,
  read(raw, path, report) {
    const fault = typeof raw === 'string' ? found(raw) : other(raw);
    if (typeof raw === 'string' && fault === undefined) return raw;
    report(path, `found ${fault ?? ''}, allowed: ${allowed}`);
    return undefined;
  },
});

export const oneOf = <T extends string>(...words: readonly T[]): Rule<T> => ({
  ...rule(
    'string',
    words.map((word) => `"${word}"`).join(' or '),
    (raw) => words.find((word) => word === raw),
    (raw) => (typeof raw === 'string' ? hint(raw, words) : ''),
  ),
  choices: words,
});

interface UniqueProperty<T> {
  readonly by: (item: T) => string;
  /** The key of the property in an item, for messages; undefined for the item itself. */
  readonly at?: string;
}

interface ListBounds<T> {
  readonly min?: number;
  readonly max?: number;
  readonly different?: UniqueProperty<T> | readonly UniqueProperty<T>[];
}

export function list<T>(item: Rule<T>, bounds: ListBounds<T>): Rule<readonly T[]> {
  const { min = 0, max = Infinity, different = [] } = bounds;
  const differences = [different].flat();
  const noun = min === 1 && max === Infinity ? 'item' : 'items';
  const kind = differences.length === 0 ? noun : `different ${noun}`;
  const allowed = `an array of ${sizeText(min, max)}${kind}, each ${item.allowed}`;

  const read = (raw: unknown, path: Path, report: ReportProblem) => {
    if (!Array.isArray(raw) || raw.length < min || raw.length > max) {
      report(path, `found ${shown(raw)}${listGuess(raw, item.type, path)}, allowed: ${allowed}`);
      return undefined;
    }
    const items = raw.map((entry, index) => readWhole(item, entry, [...path, index], report));
    // Compare valid items only: two items that both lack the key do not repeat each other.
    const whole = items.map(({ value, isWhole }) => (isWhole ? value : undefined));
    for (const difference of differences) reportRepeats(whole, path, report, difference);
    return Object.freeze(items.flatMap(({ value }) => (value === undefined ? [] : [value])));
  };
  return { type: `${item.type} array`, allowed, read };
}

/** A suggestion for a value that is written as one item instead of a list. */
function listGuess(raw: unknown, type: string, path: Path): string {
  if (type === 'table' && shown(raw) === 'a table') return ` (write [[${keyPath(path)}]])`;
  return type === 'string' && typeof raw === 'string' ? ` (write [${shown(raw)}])` : '';
}

function sizeText(min: number, max: number): string {
  if (max !== Infinity) return min === 0 ? `at most ${max} ` : `${min} to ${max} `;
  return min === 0 ? '' : `at least ${min} `;
}

export const repeated = (earlier: Path): string =>
  `repeats ${keyPath(earlier)}; the two must differ`;

function reportRepeats<T>(
  items: readonly (T | undefined)[],
  path: Path,
  report: ReportProblem,
  { by, at }: UniqueProperty<T>,
): void {
  const inside = at === undefined ? [] : [at];
  const first = new Map<string, number>();
  items.forEach((item, index) => {
    if (item === undefined) return;
    const earlier = first.get(by(item));
    if (earlier === undefined) first.set(by(item), index);
    else {
      report([...path, index, ...inside], repeated([...path, earlier, ...inside]));
    }
  });
}
