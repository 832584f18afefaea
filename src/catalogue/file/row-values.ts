// Reads the values of a row that have rules of their own.
import { quoted } from '../../document/key-path.js';
import type { MetricType } from '../../model.js';
import { word } from '../../rules/formats.js';
import { between, list, number, refined, text } from '../../rules/rule.js';
import type { Rule } from '../../rules/rule.js';
import { conversionOf, UNCHANGED } from '../conversion.js';
import type { Conversion } from '../conversion.js';
import { compileVariablePattern } from '../match/variable-pattern.js';
import type { VariablePattern } from '../match/variable-pattern.js';
import { labelProblem } from '../names.js';
import type { Table } from './table.js';

/** Below the bound on the series of a row, since a histogram has more series than buckets. */
const MAX_ENTRIES = 1000;

const literalPath = text(
  /^[^@{}][^{}]*$/,
  'the literal path of an object, without braces and not starting with "@"',
);
const positive = number('a number greater than 0', (value) => value > 0);
const states = list(word, { min: 1, max: MAX_ENTRIES, different: { by: String } });

/** Label names with their texts; an invalid label name is a problem. */
export function labelPairs(table: Table, key: string): readonly (readonly [string, string])[] {
  return [...labelled(table, key).strings()];
}

/** Labels, and the variables whose texts they are. */
export function labelVariables(table: Table, key: string): ReturnType<typeof labelPairs> {
  const inner = labelled(table, key);
  return [...inner.keys].map((label) => [label, plainVariable(inner, label)]);
}

/** A table whose keys are labels. */
function labelled(table: Table, key: string): Table {
  const inner = table.table(key);
  for (const label of inner.keys) {
    const problem = labelProblem(label);
    if (problem !== undefined) table.problems.add(inner.at(label), problem);
  }
  return inner;
}

/** A literal path below the object of the class, or nothing. */
export const childPath = (table: Table, key: string): string => table.read(key, literalPath) ?? '';

/** The name of a variable, or a pattern; `@state`, the object's state, is neither. */
export function variableIn(table: Table, key: string): string {
  const name = table.read(key, word) ?? '';
  if (name === '@state')
    table.problems.add(
      table.at(key),
      'found "@state", the state of the object, which needs type stateset',
    );
  return name;
}

/** The name of one variable. */
export function plainVariable(table: Table, key: string): string {
  const name = variableIn(table, key);
  if (/[{}]/.test(name))
    table.problems.add(
      table.at(key),
      `found ${quoted(name)}, allowed: a plain name, as only a single number takes a pattern`,
    );
  return name;
}

/** Compiles a pattern of variable names; undefined for a plain name. */
export const patternIn = (table: Table, key: string, name: string): VariablePattern | undefined =>
  table.problems.catch(table.at(key), () => compileVariablePattern(name));

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
      `found ${JSON.stringify(found)}, allowed: ${JSON.stringify(wanted)}`,
    );
}

export function conversionIn(table: Table, key: string): Conversion {
  const scale = table.read(key, positive);
  return scale === undefined ? UNCHANGED : conversionOf(scale);
}

/** At least one number, strictly ascending, from `least` to `most`. */
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

/** At least one name, none twice. */
export const stateNames = (table: Table, key: string): readonly string[] =>
  table.read(key, states) ?? [];
