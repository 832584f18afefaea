// Reads the values of a row that have rules of their own.
import { conversionOf, UNCHANGED } from '../conversion.js';
import type { Conversion } from '../conversion.js';
import { compileVariablePattern } from '../match/variable-pattern.js';
import type { VariablePattern } from '../match/variable-pattern.js';
import type { MetricType } from '../../model.js';
import { labelProblem } from '../names.js';
import type { Table } from './table.js';

/** Label names with their texts; a name that may not be a label is a problem. */
export function labelPairs(table: Table, key: string): readonly (readonly [string, string])[] {
  const inner = table.table(key);
  for (const label of inner.keys) {
    const problem = labelProblem(label);
    if (problem !== undefined) table.problems.add(inner.at(label), problem);
  }
  return [...inner.strings()];
}

/** A literal path below the object of the class, or nothing. */
export function childPath(table: Table, key: string): string {
  const path = table.text(key) ?? '';
  if (table.has(key) && (path === '' || path.startsWith('@') || /[{}]/.test(path)))
    table.problems.add(table.at(key), `found ${JSON.stringify(path)}, must be a literal path`);
  return path;
}

/** The name of a variable, or a pattern; the object's state is no variable. */
export function variableIn(table: Table, key: string): string {
  const name = table.text(key) ?? '';
  if (!table.has(key)) return name;
  if (table.text(key) === '') table.problems.add(table.at(key), 'must not be empty');
  if (name === '@state')
    table.problems.add(table.at(key), 'is the state of the object, which needs type stateset');
  return name;
}

/** The name of one variable. */
export function plainVariable(table: Table, key: string): string {
  const name = variableIn(table, key);
  if (/[{}]/.test(name))
    table.problems.add(table.at(key), 'must be a plain name: only a single number takes a pattern');
  return name;
}

/** The pattern of variable names; undefined for a plain name. */
export const patternIn = (table: Table, key: string): VariablePattern | undefined =>
  table.problems.catch(table.at(key), () => compileVariablePattern(table.text(key) ?? ''));

/** A total never falls below zero, so a negative one has wrapped, unless the row says otherwise. */
export function wraps(table: Table, type: MetricType): boolean {
  const isTotal = type === 'counter' || type === 'summary';
  if (table.has('wrap32') && !isTotal)
    table.problems.add(
      table.at('wrap32'),
      `has no meaning for type ${type}, which may be negative`,
    );
  return table.flag('wrap32') ?? isTotal;
}

export function mustBe<T>(table: Table, key: string, found: T | undefined, wanted: T): void {
  if (found !== undefined && found !== wanted)
    table.problems.add(
      table.at(key),
      `found ${JSON.stringify(found)}, must be ${JSON.stringify(wanted)}`,
    );
}

export function conversionIn(table: Table, key: string): Conversion {
  const scale = table.number(key);
  if (scale === undefined) return UNCHANGED;
  if (scale > 0) return conversionOf(scale);
  table.problems.add(table.at(key), `found ${scale}, must be greater than 0`);
  return UNCHANGED;
}

/** Fewer than a row may have series, since a histogram has more of these than buckets. */
const MAX_ENTRIES = 1000;

function checkCount(table: Table, key: string, entries: readonly unknown[]): void {
  if (entries.length > MAX_ENTRIES)
    table.problems.add(
      table.at(key),
      `found an array of ${entries.length}, must have at most ${MAX_ENTRIES} entries`,
    );
}

/** At least one number, strictly ascending, from `least` to `most`. */
export function ascending(
  table: Table,
  key: string,
  least = -Infinity,
  most = Infinity,
): readonly number[] {
  const numbers = table.numbers(key);
  checkCount(table, key, numbers);
  const climbs = numbers.every(
    (number, index) => index === 0 || number > (numbers[index - 1] ?? 0),
  );
  if (table.has(key) && (numbers.length === 0 || !climbs))
    table.problems.add(
      table.at(key),
      'must be a list of numbers, each greater than the one before',
    );
  for (const [index, number] of numbers.entries())
    if (number < least || number > most)
      table.problems.add(table.at(key, index), `found ${number}, must be from ${least} to ${most}`);
  return numbers;
}

/** At least one name, none twice. */
export function stateNames(table: Table, key: string): readonly string[] {
  const names = table.texts(key);
  checkCount(table, key, names);
  if (table.has(key) && (names.length === 0 || new Set(names).size < names.length))
    table.problems.add(table.at(key), 'must be a list of names, each given once');
  return names;
}
