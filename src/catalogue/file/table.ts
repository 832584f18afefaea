// One TOML table of a catalogue, read key by key, since the rule of one key can depend on another.
import type { Path } from '../../document/key-path.js';
import type { Problems } from '../../rules/problems.js';
import { anyText, flag, list } from '../../rules/rule.js';
import type { Rule } from '../../rules/rule.js';
import { anyTable, reportMissing, reportUnknownKeys } from '../../rules/table.js';
import { wordsFor } from './key-words.js';

const texts = list(anyText, {});

export class Table {
  readonly #values: Readonly<Record<string, unknown>>;

  /** `path` leads to the table; it is empty for the file itself. */
  constructor(
    values: unknown,
    readonly path: Path,
    readonly problems: Problems,
  ) {
    this.#values = anyTable.read(values, path, problems.report) ?? {};
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

  /** Reports every key that is not among `known`. */
  only(known: readonly string[]): void {
    reportUnknownKeys(this.#values, known, this.path, this.problems.report);
  }

  /** Reports every key of `keys` that is missing. */
  needs(...keys: readonly string[]): void {
    for (const key of keys.filter((each) => !this.has(each)))
      reportMissing(this.at(key), wordsFor(key), this.problems.report);
  }

  /**
   * The value at `key` by a rule; undefined if it is missing or invalid; an invalid one becomes a
   * problem.
   */
  read<T>(key: string, rule: Rule<T>): T | undefined {
    if (!this.has(key)) return undefined;
    return rule.read(this.#values[key], this.at(key), this.problems.report);
  }

  text(key: string): string | undefined {
    return this.read(key, anyText);
  }

  flag(key: string): boolean | undefined {
    return this.read(key, flag);
  }

  texts(key: string): readonly string[] {
    return this.read(key, texts) ?? [];
  }

  /** The table at `key`; an empty one when it is missing. */
  table(key: string): Table {
    return new Table(this.has(key) ? this.#values[key] : {}, this.at(key), this.problems);
  }

  /** The tables of the list at `key`; none when it is missing. */
  tables(key: string): readonly Table[] {
    const item: Rule<Table> = {
      type: anyTable.type,
      allowed: anyTable.allowed,
      read: (raw, path) => new Table(raw, path, this.problems),
    };
    return this.read(key, list(item, {})) ?? [];
  }

  /** All keys of the table with their strings, in the order of the file. */
  strings(): ReadonlyMap<string, string> {
    const pairs = this.keys.map((key) => [key, this.text(key) ?? ''] as const);
    return new Map(pairs);
  }
}
