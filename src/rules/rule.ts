// What a value may be: a rule reads a raw TOML value, and describes what it allows.
import { hint } from '../document/nearest.js';
import { keyPath, shown } from '../document/document.js';
import type { Path } from '../document/document.js';

/** Called with one problem of the value at `path`, or of its key if `mark` says so. */
export type ReportProblem = (path: Path, sentence: string, mark?: 'key') => void;

export interface Rule<T> {
  /** The TOML type, for the reference page. */
  readonly type: string;
  /** What is allowed, in words that follow "allowed:". */
  readonly allowed: string;
  /**
   * Reads one raw TOML value: string, bigint, number (floats only), boolean, array or table.
   * Reports every error in it, and returns the valid part; undefined if there is none.
   */
  read(raw: unknown, path: Path, report: ReportProblem): T | undefined;
}

/**
 * A rule from a function that returns undefined for invalid values.
 * @param guess returns the probable intention behind an invalid value, in brackets; empty if none is known
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

/** A rule whose values must also pass `check`, which reports problems of a value as a whole. */
export const refined = <T>(
  inner: Rule<T>,
  check: (value: T, path: Path, report: ReportProblem) => void,
): Rule<T> => ({
  ...inner,
  read(raw, path, report) {
    const { value, isWhole } = readCounted(inner, raw, path, report);
    if (value !== undefined && isWhole) check(value, path, report);
    return value;
  },
});

/** Items of a list with their index, since the list leaves out invalid ones. */
export const indexed = <T extends object>(
  inner: Rule<T>,
): Rule<T & { readonly index: number }> => ({
  ...inner,
  read(raw, path, report) {
    const value = inner.read(raw, path, report);
    return value && Object.freeze({ ...value, index: Number(path.at(-1)) });
  },
});

/** Reads a value, and says whether it has no problem. */
function readCounted<T>(inner: Rule<T>, raw: unknown, path: Path, report: ReportProblem) {
  let isWhole = true;
  const value = inner.read(raw, path, (...complaint) => {
    isWhole = false;
    report(...complaint);
  });
  return { value, isWhole };
}

export const flag: Rule<boolean> = rule('boolean', 'true or false', (raw) =>
  typeof raw === 'boolean' ? raw : undefined,
);

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

/** Any string. */
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

export function oneOf<T extends string>(...words: readonly T[]): Rule<T> {
  const allowed = words.map((word) => `"${word}"`).join(' or ');
  const read = (raw: unknown, path: Path, report: ReportProblem) => {
    const value = words.find((word) => word === raw);
    const guess = typeof raw === 'string' ? hint(raw, words) : '';
    if (value === undefined) report(path, `found ${shown(raw)}${guess}, allowed: ${allowed}`);
    return value;
  };
  return { type: 'string', allowed, read };
}

/** What must differ between items, and its key inside an item. */
interface Difference<T> {
  readonly by: (item: T) => string;
  readonly at?: string;
}

interface ListBounds<T> {
  readonly min?: number;
  readonly max?: number;
  readonly different?: Difference<T> | readonly Difference<T>[];
}

/** Arrays whose items all pass `item`. */
export function list<T>(item: Rule<T>, bounds: ListBounds<T>): Rule<readonly T[]> {
  const { min = 0, max = Infinity, different = [] } = bounds;
  const differences = [different].flat();
  const noun = min === 1 && max === Infinity ? 'item' : 'items';
  const kind = differences.length === 0 ? noun : `different ${noun}`;
  const allowed = `an array of ${sizeText(min, max)}${kind}, each ${item.allowed}`;

  const read = (raw: unknown, path: Path, report: ReportProblem) => {
    if (!Array.isArray(raw) || raw.length < min || raw.length > max) {
      report(path, `found ${shown(raw)}, allowed: ${allowed}`);
      return undefined;
    }
    const items = raw.map((entry, index) => readCounted(item, entry, [...path, index], report));
    // Two items that both lack the key do not repeat each other.
    const whole = items.map(({ value, isWhole }) => (isWhole ? value : undefined));
    for (const difference of differences) reportRepeats(whole, path, report, difference);
    return Object.freeze(items.flatMap(({ value }) => (value === undefined ? [] : [value])));
  };
  return { type: `${item.type} array`, allowed, read };
}

function sizeText(min: number, max: number): string {
  if (max !== Infinity) return min === 0 ? `at most ${max} ` : `${min} to ${max} `;
  return min === 0 ? '' : `at least ${min} `;
}

/** The problem of a value that repeats an earlier one. */
export const repeated = (earlier: Path): string =>
  `repeats ${keyPath(earlier)}, which must be different`;

function reportRepeats<T>(
  items: readonly (T | undefined)[],
  path: Path,
  report: ReportProblem,
  { by, at }: Difference<T>,
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
