// Reads the values of one TOML table; what is missing or of the wrong type becomes a problem.
import { hint } from '../document/nearest.js';
import type { Problems } from './problems.js';

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const listOf =
  <T>(is: (value: unknown) => value is T) =>
  (value: unknown): value is T[] =>
    Array.isArray(value) && value.every(is);

export class Table {
  readonly #values: Readonly<Record<string, unknown>>;

  /** `where` is the key path of the table, empty for the file itself. */
  constructor(
    values: unknown,
    readonly where: string,
    readonly problems: Problems,
  ) {
    this.#values = isTable(values) ? values : {};
    if (!isTable(values)) this.#wrong(where, values, 'a table');
  }

  get keys(): readonly string[] {
    return Object.keys(this.#values);
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#values, key);
  }

  /** The key path of `key`. */
  at(key: string): string {
    return this.where === '' ? key : `${this.where}.${key}`;
  }

  /** Notes every key that is not among `known`. */
  only(known: readonly string[]): void {
    for (const key of this.keys)
      if (!known.includes(key))
        this.problems.add(
          this.at(key),
          `unknown key${hint(key, known)}, allowed: ${known.join(', ')}`,
        );
  }

  /** Notes every key of `keys` that is missing. */
  needs(...keys: readonly string[]): void {
    for (const key of keys)
      if (!this.has(key)) this.problems.add(this.at(key), 'is missing and must be given');
  }

  text(key: string): string | undefined {
    return this.#value(key, isText, 'a string');
  }

  number(key: string): number | undefined {
    return this.#value(key, isNumber, 'a finite number');
  }

  flag(key: string): boolean | undefined {
    return this.#value(key, isFlag, 'true or false');
  }

  texts(key: string): readonly string[] {
    return this.#value(key, listOf(isText), 'a list of strings') ?? [];
  }

  numbers(key: string): readonly number[] {
    return this.#value(key, listOf(isNumber), 'a list of finite numbers') ?? [];
  }

  /** The table at `key`; an empty one when it is missing. */
  table(key: string): Table {
    return new Table(this.has(key) ? this.#values[key] : {}, this.at(key), this.problems);
  }

  /** The list of tables at `key`; empty when it is missing. */
  tables(key: string): readonly Table[] {
    const list = this.#value(key, Array.isArray, 'a list of tables') ?? [];
    return list.map(
      (values: unknown, index) => new Table(values, `${this.at(key)}[${index}]`, this.problems),
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

  #wrong(where: string, value: unknown, wanted: string): void {
    const found = typeof value === 'bigint' ? String(value) : JSON.stringify(value);
    this.problems.add(where, `found ${found}, must be ${wanted}`);
  }
}
