// The scenario file: the objects to publish and the steps to play.
import { readFileSync } from 'node:fs';
import { keyPath } from '#app/document/document.js';
import type { Path } from '#app/document/document.js';
import { Fault, messageOf } from '#app/errors.js';
import { OBJECT_STATES } from '#app/model.js';
import { VARIABLE_KINDS } from '#app/native/segment/layout.js';
import { VALUE_TYPES, isFramed, scalarType } from '#app/published.js';
import type { ValueType } from '#app/published.js';
import { name as nameRule } from '#app/rules/formats.js';
import { anyText, between, flag, list, number, oneOf, refined, rule } from '#app/rules/rule.js';
import type { Rule } from '#app/rules/rule.js';
import { anyTable, optional, required, table } from '#app/rules/table.js';
import type { Field } from '#app/rules/table.js';

/** Integers. Integers beyond 2^53 are decimal strings in JSON. */
const integer = (min: bigint, max: bigint): Rule<bigint> =>
  rule('integer', `an integer from ${min} to ${max}; beyond 2^53, a decimal string`, (raw) => {
    const isDecimal = typeof raw === 'string' && /^-?\d{1,20}$/.test(raw);
    if (!isDecimal && typeof raw !== 'bigint' && !isSafeInteger(raw)) return undefined;
    const value = BigInt(raw);
    return value >= min && value <= max ? value : undefined;
  });

const isSafeInteger = (raw: unknown): raw is number => Number.isSafeInteger(raw);

const count = integer(0n, 2n ** 64n - 1n);

const float = rule('number', 'a number, "NaN", "Infinity" or "-Infinity"', (raw) => {
  const isNumber = typeof raw === 'number' || typeof raw === 'bigint';
  const isWord = raw === 'NaN' || raw === 'Infinity' || raw === '-Infinity';
  return isNumber || isWord ? Number(raw) : undefined;
});

const anything: Rule<unknown> = rule('any', 'any value', (raw) => raw);

/** An optional key. Its value is null if the file lacks the key. */
const nullable = <T>(value: Rule<T>, meaning: string): Field<T | null> => ({
  rule: { ...value, read: (raw, ...at) => (raw === null ? null : value.read(raw, ...at)) },
  meaning,
  fallback: null,
});

/** JSON objects with any keys, as pairs of key and value in the order of the file. */
const entries = <T>(value: Rule<T>): Rule<readonly (readonly [key: string, value: T])[]> => ({
  ...anyTable,
  read: (raw, path, report) =>
    Object.entries(anyTable.read(raw, path, report) ?? {}).flatMap(([key, each]) => {
      const read = value.read(each, [...path, key], report);
      return read === undefined ? [] : [[key, read] as const];
    }),
});

const histogram = refined(
  table('a histogram', {
    bounds: required(list(number(), {}), 'Upper bounds of the buckets, without +Inf'),
    counts: required(list(count, {}), 'Observations in each bucket, including the bucket of +Inf'),
    sum: required(float, 'Sum of all observations'),
  }),
  ({ bounds, counts }, path, report) => {
    if (bounds.some((bound, index) => index > 0 && bound <= (bounds[index - 1] ?? bound)))
      report(
        [...path, 'bounds'],
        'do not ascend, allowed: numbers, each greater than the one before',
      );
    if (counts.length !== bounds.length + 1)
      report(
        [...path, 'counts'],
        `${counts.length} counts for ${bounds.length} bounds, allowed: one more than bounds`,
      );
  },
);

/** Pairs of quantile and value, in ascending order of the quantiles. */
const quantiles: Rule<readonly (readonly [quantile: number, value: number])[]> = {
  ...anyTable,
  read(raw, path, report) {
    const pairs = entries(float).read(raw, path, report) ?? [];
    const isQuantile = (key: string) => /^\d*\.?\d+(e-\d+)?$/.test(key) && Number(key) <= 1;
    if (!pairs.every(([key]) => isQuantile(key)))
      report(path, 'found a key that is not a quantile, allowed: numbers from 0 to 1');
    if (new Set(pairs.map(([key]) => Number(key))).size < pairs.length)
      report(path, 'a quantile is given twice, allowed: each once');
    // JSON.parse puts the key "1" before "0.5".
    return pairs.map(([key, value]) => [Number(key), value] as const).sort(([a], [b]) => a - b);
  },
};

const summary = table('a summary', {
  quantiles: required(quantiles, 'Values by quantile'),
  count: required(count, 'Number of observations'),
  sum: required(float, 'Sum of all observations'),
});

type ValueOf<R> = R extends Rule<infer T> ? T : never;

export type ScenarioValue =
  number | bigint | boolean | string | ValueOf<typeof histogram> | ValueOf<typeof summary>;

/** The rule for values of a type. */
export function valuesOf(type: ValueType): Rule<ScenarioValue> {
  if (isFramed(type)) return { string: anyText, histogram, summary }[type];
  const { bits, range } = scalarType(type);
  if (bits === 'bool') return flag;
  return range === undefined ? float : integer(...range);
}

const VARIABLE = table('a variable', {
  type: required(oneOf(...(Object.keys(VALUE_TYPES) as ValueType[])), 'Type of its values'),
  kind: optional('unknown', oneOf(...VARIABLE_KINDS), 'Declared kind'),
  unit: optional('', anyText, 'Declared unit'),
  help: optional('', anyText, 'Declared help text'),
  value: nullable(anything, 'First value; a variable without one is not yet synced'),
});

export interface ScenarioVariable extends Omit<ValueOf<typeof VARIABLE>, 'value'> {
  readonly name: string;
  readonly value: ScenarioValue | undefined;
}

const variable: Rule<Omit<ScenarioVariable, 'name'>> = {
  ...VARIABLE,
  read(raw, path, report) {
    const facts = VARIABLE.read(raw, path, report);
    if (facts === undefined) return undefined;
    const { type, value } = facts;
    if (value === null) return { ...facts, value: undefined };
    return { ...facts, value: valuesOf(type).read(value, [...path, 'value'], report) };
  },
};

/** The variables of an object, by name. */
const variables: Rule<readonly ScenarioVariable[]> = {
  ...anyTable,
  read: (raw, path, report) =>
    entries(variable)
      .read(raw, path, report)
      ?.map(([name, facts]) => ({ name, ...facts })),
};

const object = table('an object', {
  id: required(anyText, 'Object id'),
  parent: nullable(anyText, 'Id of the parent; a root has none'),
  class: required(anyText, 'Class id'),
  state: optional('normal', oneOf(...OBJECT_STATES), 'Management state'),
  synced: optional(true, flag, 'Whether the object is synced from the start'),
  variables: optional([], variables, 'Variables by name'),
});

export type ScenarioObject = ValueOf<typeof object>;

const MAX_DELAY_MS = 2 ** 31 - 1;

const step = table('a step', {
  afterMs: required(between(0, MAX_DELAY_MS), 'Milliseconds after the previous step'),
  set: optional([], entries(entries(anything)), 'New values by object id and variable'),
  add: optional([], list(object, {}), 'Objects to add'),
  remove: optional([], list(anyText, {}), 'Ids of objects to remove'),
  sync: optional([], list(anyText, {}), 'Ids of objects that become synced'),
  state: optional([], entries(oneOf(...OBJECT_STATES)), 'New states by object id'),
  exit: nullable(oneOf('clean', 'kill'), 'How the process ends after the step'),
});

export type ScenarioStep = ValueOf<typeof step>;

const scenario = table('an object', {
  contextId: optional('shmApp', nameRule, 'Context id of the shared-memory pool'),
  poolName: optional('pool', nameRule, 'Name of the shared-memory pool'),
  serverKey: nullable(nameRule, 'Server key to publish under'),
  objects: required(list(object, {}), 'Objects at the start, parents first'),
  steps: optional([], list(step, {}), 'Changes, one after the other'),
  repeat: optional(false, flag, 'Whether the steps start over after the last one'),
});

export type Scenario = ValueOf<typeof scenario>;

const MAX_SHOWN = 50;

/**
 * Validates `raw` by a rule, and returns its value.
 * @param source begins each line of the error message
 * @throws Fault SCENARIO_INVALID with one line for each problem
 */
export function readValid<T>(rule: Rule<T>, raw: unknown, source: string, path: Path = []): T {
  const problems: string[] = [];
  const value = rule.read(raw, path, (at, sentence) => {
    problems.push(`${source}: ${at.length === 0 ? 'the file' : keyPath(at)}: ${sentence}`);
  });
  if (value !== undefined && problems.length === 0) return value;
  const more = problems.length - MAX_SHOWN;
  const rest = more > 0 ? [`${source}: and ${more} more problems`] : [];
  throw new Fault('SCENARIO_INVALID', [...problems.slice(0, MAX_SHOWN), ...rest].join('\n'));
}

/** Reads a scenario file. @throws Fault SCENARIO_INVALID with one line for each problem */
export function readScenario(path: string): Scenario {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Fault('SCENARIO_INVALID', `Cannot read ${path}: ${messageOf(error)}`);
  }
  return parseScenario(text, path);
}

/** @param source the name of the file in messages */
export function parseScenario(text: string, source: string): Scenario {
  let json: unknown;
  try {
    // The rules expect integers as bigints, as the TOML parser returns them.
    json = JSON.parse(text, (_key, value: unknown) =>
      isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value,
    );
  } catch (error) {
    throw new Fault('SCENARIO_INVALID', `${source} is not JSON: ${messageOf(error)}`);
  }
  return readValid(scenario, json, source);
}
