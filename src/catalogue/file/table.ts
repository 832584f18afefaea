// Reads the values of one TOML table; what is missing or of the wrong type becomes a problem.
import { shown, TomlDate } from '../../document/key-path.js';
import type { Path } from '../../document/key-path.js';
import { hint } from '../../document/nearest.js';
import type { Problems } from './problems.js';

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof TomlDate);
const isText = (value: unknown): value is string => typeof value === 'string';
/** Whole numbers come as bigint, others as number. */
const isNumber = (value: unknown): value is number | bigint =>
  Number.isFinite(typeof value === 'bigint' ? Number(value) : value);
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const listOf =
  <T>(is: (value: unknown) => value is T) =>
  (value: unknown): value is T[] =>
    Array.isArray(value) && value.every(is);

export class Table {
  readonly #values: Readonly<Record<string, unknown>>;

  /** `path` leads to the table; it is empty for the file itself. */
  constructor(
    values: unknown,
    readonly path: Path,
    readonly problems: Problems,
  ) {
    this.#values = isTable(values) ? values : {};
    if (!isTable(values)) this.#wrong(path, values, 'a table');
  }

  get keys(): readonly string[] {
    return Object.keys(this.#values);
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#values, key);
  }

  /** The path of `key`, or of one of its items. */
  at(key: string, ...item: Path): Path {
    return [...this.path, key, ...item];
  }

  /** Notes every key that is not among `known`. */
  only(known: readonly string[]): void {
    for (const key of this.keys)
      if (!known.includes(key))
        this.problems.add(
          this.at(key),
          `unknown key${hint(key, known)}, allowed: ${known.join(', ')}`,
          'key',
        );
  }

  /** Notes every key of `keys` that is missing. */
  needs(...keys: readonly string[]): void {
    for (const key of keys)
      if (!this.has(key)) this.problems.add(this.at(key), 'is missing and must be given', 'key');
  }

  text(key: string): string | undefined {
    return this.#value(key, isText, 'a string');
  }

  number(key: string): number | undefined {
    const value = this.#value(key, isNumber, 'a finite number');
    return value === undefined ? undefined : Number(value);
  }

  flag(key: string): boolean | undefined {
    return this.#value(key, isFlag, 'true or false');
  }

  texts(key: string): readonly string[] {
    return this.#value(key, listOf(isText), 'a list of strings') ?? [];
  }

  numbers(key: string): readonly number[] {
    return (this.#value(key, listOf(isNumber), 'a list of finite numbers') ?? []).map(Number);
  }

  /** The table at `key`; an empty one when it is missing. */
  table(key: string): Table {
    return new Table(this.has(key) ? this.#values[key] : {}, this.at(key), this.problems);
  }

  /** The list of tables at `key`; empty when it is missing. */
  tables(key: string): readonly Table[] {
    const list = this.#value(key, Array.isArray, 'a list of tables') ?? [];
    return list.map(
      (values: unknown, index) => new Table(values, this.at(key, index), this.problems),
    );
  }

  /** All keys of the table with their strings, in the order of the file. */
  strings(): ReadonlyMap<string, string> {
    const pairs = this.keys.map((key) => [key, this.text(key) ?? ''] as const);
    return new Map(pairs);
  }

  #value<T>(key: string, is: (value: unknown) => value is T, wanted: string): T | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#values[key];
    if (is(value)) return value;
    this.#wrong(this.at(key), value, wanted);
    return undefined;
  }

  #wrong(path: Path, value: unknown, wanted: string): void {
    this.problems.add(path, `found ${shown(value)}, must be ${wanted}`);
  }
}
