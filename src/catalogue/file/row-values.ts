// Reads the values of a row that have rules of their own.
import { quoted } from '../../document/key-path.js';
import { word } from '../../rules/formats.js';
import { between, list, number, refined, text } from '../../rules/rule.js';
import type { Rule } from '../../rules/rule.js';
import { conversionOf, UNCHANGED } from '../conversion.js';
import type { Conversion } from '../conversion.js';
import { labelProblem } from '../names.js';
import type { Row } from '../row.js';
import type { Table } from './table.js';

const literalPath = text(
  /^[^@{}][^{}]*$/,
  'the literal path of an object, without braces and not starting with "@"',
);
const positive = number('a number greater than 0', (value) => value > 0);
const states = list(word, { min: 1, different: { by: String } });

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
export const childPath = (table: Table, key: string): string => table.read(key, literalPath) ?? '';

/** The name of a variable; `@state` is the object's state and only a stateset can show it. */
export function variableName(table: Table, key: string, kind: Row['kind']): string {
  const name = table.read(key, word) ?? '';
  if (name === '@state' && kind !== 'state')
    table.problems.add(
      table.at(key),
      'found "@state", the state of the object, which needs type stateset',
    );
  else if (kind !== 'scalar' && /[{}]/.test(name))
    table.problems.add(
      table.at(key),
      `found ${quoted(name)}, allowed: a plain name, as only a single number takes a pattern`,
    );
  return name;
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
  refined(list(item, { min: 1 }), (numbers, path, report) => {
    for (const [index, value] of numbers.entries()) {
      const before = numbers[index - 1];
      if (before !== undefined && value <= before)
        report([...path, index], `found ${value}, allowed: a number greater than ${before}`);
    }
  });

/** At least one name, none twice. */
export const stateNames = (table: Table, key: string): readonly string[] =>
  table.read(key, states) ?? [];
