// What a value may be: a rule reads a raw TOML value, and says in words what it takes.
import { keyPath, shown } from '../document/key-path.js';
import type { Path } from '../document/key-path.js';

/** Takes one complaint. It stands at the value of `path`, or at its key when `mark` says so. */
export type Report = (path: Path, sentence: string, mark?: 'key') => void;

export interface Rule<T> {
  /** The TOML type, for the reference page. */
  readonly type: string;
  /** What is allowed, in words that follow "allowed is". */
  readonly allowed: string;
  /**
   * Reads one raw TOML value: string, bigint, number (floats only), boolean, array or table.
   * Returns undefined after it has reported everything that is wrong with it.
   */
  read(raw: unknown, path: Path, report: Report): T | undefined;
}

/** A rule from a function that returns undefined for what it refuses. */
export function rule<T>(
  type: string,
  allowed: string,
  accept: (raw: unknown) => T | undefined,
): Rule<T> {
  const read = (raw: unknown, path: Path, report: Report) => {
    const value = accept(raw);
    if (value === undefined) report(path, `found ${shown(raw)}, allowed: ${allowed}`);
    return value;
  };
  return { type, allowed, read };
}

/** A rule whose values must also pass `check`, which reports what is wrong with one as a whole. */
export const refined = <T>(
  inner: Rule<T>,
  check: (value: T, path: Path, report: Report) => void,
): Rule<T> => ({
  ...inner,
  read(raw, path, report) {
    const value = inner.read(raw, path, report);
    if (value !== undefined) check(value, path, report);
    return value;
  },
});

export const flag: Rule<boolean> = rule('boolean', 'true or false', (raw) =>
  typeof raw === 'boolean' ? raw : undefined,
);

export const integer = (min: number, max: number): Rule<number> =>
  rule('integer', `an integer from ${min} to ${max}`, (raw) =>
    typeof raw === 'bigint' && raw >= min && raw <= max ? Number(raw) : undefined,
  );

/** Strings that `shape` matches; `allowed` says the same in words. */
export const text = (shape: RegExp, allowed: string): Rule<string> =>
  rule('string', allowed, (raw) => (typeof raw === 'string' && shape.test(raw) ? raw : undefined));

export const oneOf = <T extends string>(...words: readonly T[]): Rule<T> =>
  rule('string', words.map((word) => `"${word}"`).join(' or '), (raw) =>
    words.find((word) => word === raw),
  );

/** What no two items may share, and the key inside an item that it stands at. */
interface Difference<T> {
  readonly by: (item: T) => string;
  readonly at?: string;
}

interface ListBounds<T> {
  readonly min?: number;
  readonly max: number;
  readonly different?: Difference<T> | readonly Difference<T>[];
}

/** Arrays whose items all pass `item`. */
export function list<T>(item: Rule<T>, bounds: ListBounds<T>): Rule<readonly T[]> {
  const { min = 0, max, different = [] } = bounds;
  const differences = [different].flat();
  const size = min === 0 ? `at most ${max}` : `${min} to ${max}`;
  const kind = differences.length === 0 ? 'items' : 'different items';
  const allowed = `an array of ${size} ${kind}, each ${item.allowed}`;

  const read = (raw: unknown, path: Path, report: Report) => {
    if (!Array.isArray(raw) || raw.length < min || raw.length > max) {
      report(path, `found ${shown(raw)}, allowed: ${allowed}`);
      return undefined;
    }
    const items = raw.map((entry, index) => item.read(entry, [...path, index], report));
    for (const difference of differences) reportRepeats(items, path, report, difference);
    return Object.freeze(items.filter((entry) => entry !== undefined));
  };
  return { type: `${item.type} array`, allowed, read };
}

function reportRepeats<T>(
  items: readonly (T | undefined)[],
  path: Path,
  report: Report,
  { by, at }: Difference<T>,
): void {
  const inside = at === undefined ? [] : [at];
  const first = new Map<string, number>();
  items.forEach((item, index) => {
    if (item === undefined) return;
    const earlier = first.get(by(item));
    if (earlier === undefined) first.set(by(item), index);
    else {
      const other = keyPath([...path, earlier, ...inside]);
      report([...path, index, ...inside], `repeats ${other}, allowed: only different ones`);
    }
  });
}
