// One TOML table of a catalogue, read key by key, since the rule of a key can depend on the value of another key.
import { quoted } from '../../document/document.js';
import type { Path } from '../../document/document.js';
import type { MetricType } from '../../model.js';
import { word, workerRule } from '../../rules/formats.js';
import type { WorkerRule } from '../../rules/formats.js';
import type { Problems } from '../../rules/problems.js';
import { anyText, between, flag, list, number, refined, text } from '../../rules/rule.js';
import type { Rule } from '../../rules/rule.js';
import { anyTable, reportMissing, reportUnknownKeys } from '../../rules/table.js';
import { compileVariablePattern } from '../match/patterns.js';
import type { VariablePattern } from '../match/patterns.js';
import { labelProblem } from '../names.js';
import { UNCHANGED, conversionOf } from '../row.js';
import type { Conversion } from '../row.js';

const texts = list(anyText, {});

export class Table {
  readonly #values: Readonly<Record<string, unknown>>;

  /** @param path the position of the table in the file; empty for the file itself */
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

  /** Adds a problem with the value at `key`. */
  report(key: string, sentence: string): void {
    this.problems.add(this.at(key), sentence);
  }

  /** The path of `key`, or of one of its items. */
  at(key: string, ...item: Path): Path {
    return [...this.path, key, ...item];
  }

  only(known: readonly string[]): void {
    reportUnknownKeys(this.#values, known, this.path, this.problems.report);
  }

  /** Reports every key of `keys` that is missing, with the description of its allowed values. */
  needs(keys: Readonly<Record<string, string>>): void {
    for (const [key, values] of Object.entries(keys))
      if (!this.has(key)) reportMissing(this.at(key), values, this.problems.report);
  }

  /**
   * Reads the value at `key` by a rule. Returns undefined if the value is missing or invalid; reports an invalid value
   * as a problem.
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

  /** The table at `key`; an empty table if the key is missing. */
  table(key: string): Table {
    return new Table(this.has(key) ? this.#values[key] : {}, this.at(key), this.problems);
  }

  /** The tables of the list at `key`; an empty list if the key is missing. */
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

/**
 * The maximum number of items of a list. It is below `MAX_LINES_A_ROW`, because a histogram has more series than
 * bounds.
 */
const MAX_ENTRIES = 1000;

const literalPath = text(
  /^[^@{}][^{}]*$/,
  'the literal path of an object, without braces and not starting with "@"',
);
const positive = number('a number greater than 0', (value) => value > 0);
const states = list(word, { min: 1, max: MAX_ENTRIES, different: { by: String } });

/** The label names of the table at `key`, each with its string. An invalid label name is a problem. */
export function labelPairs(table: Table, key: string): readonly (readonly [string, string])[] {
  return [...labelled(table, key).strings()];
}

/** The label names of the table at `key`, each with the variable whose text is the label's value. */
export function labelVariables(table: Table, key: string): ReturnType<typeof labelPairs> {
  const inner = labelled(table, key);
  return [...inner.keys].map((label) => [label, plainVariable(inner, label)]);
}

/** The table at `key`, whose keys are label names. An invalid label name is a problem. */
function labelled(table: Table, key: string): Table {
  const inner = table.table(key);
  for (const label of inner.keys) {
    const problem = labelProblem(label);
    if (problem !== undefined) inner.report(label, problem);
  }
  return inner;
}

/** The literal path at `key`, below the object of the class; empty if the key is missing. */
export const childPath = (table: Table, key: string): string => table.read(key, literalPath) ?? '';

/**
 * The name or pattern of variables at `key`. Reports the name `@state`: it means the state of the object, not a
 * variable.
 */
export function variableIn(table: Table, key: string): string {
  const name = table.read(key, word) ?? '';
  if (name === '@state')
    table.report(key, 'found "@state", the state of the object, which needs type stateset');
  return name;
}

/** The name of one variable at `key`. A pattern is a problem. */
export function plainVariable(table: Table, key: string): string {
  const name = variableIn(table, key);
  if (/[{}]/.test(name))
    table.report(
      key,
      `found ${quoted(name)}, allowed: a plain name; only a row that reads one number can have a pattern`,
    );
  return name;
}

/** Compiles a pattern of variable names; undefined for a plain name. */
export const patternIn = (table: Table, key: string, name: string): VariablePattern | undefined =>
  table.problems.catch(table.at(key), () => compileVariablePattern(name));

/**
 * The flag `wrap32`: whether a negative value is a counter that wrapped at 32 bits. True by default for counters and
 * summaries, whose values only grow.
 */
export function wraps(table: Table, type: MetricType): boolean {
  const isTotal = type === 'counter' || type === 'summary';
  if (table.has('wrap32') && !isTotal)
    table.report('wrap32', `is not allowed for type ${type}, whose values may be negative`);
  return table.flag('wrap32') ?? isTotal;
}

/** The rule at `workers`: how the gauges of several workers are shown. Counters are always added. */
export function workersIn(table: Table, type: MetricType): WorkerRule | undefined {
  if (table.has('workers') && type === 'counter')
    table.report('workers', 'is not allowed for type counter, whose values are added');
  return table.read('workers', workerRule);
}

export function mustBe<T>(table: Table, key: string, found: T | undefined, wanted: T): void {
  if (found !== undefined && found !== wanted)
    table.report(key, `found ${JSON.stringify(found)}, allowed: ${JSON.stringify(wanted)}`);
}

export function conversionIn(table: Table, key: string): Conversion {
  const scale = table.read(key, positive);
  return scale === undefined ? UNCHANGED : conversionOf(scale);
}

/** The list at `key`: at least one number, strictly ascending, from `least` to `most`; empty if invalid. */
export const ascending = (
  table: Table,
  key: string,
  least?: number,
  most?: number,
): readonly number[] =>
  table.read(
    key,
    climbing(least === undefined || most === undefined ? number() : between(least, most)),
  ) ?? [];

const climbing = (item: Rule<number>): Rule<readonly number[]> =>
  refined(list(item, { min: 1, max: MAX_ENTRIES }), (numbers, path, report) => {
    for (const [index, value] of numbers.entries()) {
      const before = numbers[index - 1];
      if (before !== undefined && value <= before)
        report([...path, index], `found ${value}, allowed: a number greater than ${before}`);
    }
  });

/** The list at `key`: at least one state name, without duplicates; empty if invalid. */
export const stateNames = (table: Table, key: string): readonly string[] =>
  table.read(key, states) ?? [];
