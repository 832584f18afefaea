// Reads a scenario from its JSON file and checks all of it.
import { readFileSync } from 'node:fs';
import { Fault, messageOf } from '#app/errors.js';
import { OBJECT_STATES } from '#app/model.js';
import type { ObjectState, VariableKind } from '#app/model.js';
import { VALUE_TYPES, isFramed, scalarType } from '#app/published.js';
import type { ScalarType, ValueType } from '#app/published.js';

// A scenario: the objects to publish and the steps to play.
export type ScenarioValue =
  | number
  | bigint
  | boolean
  | string
  | { readonly bounds: readonly number[]; readonly counts: readonly bigint[]; readonly sum: number }
  | {
      /** Quantile and value, ascending. */
      readonly quantiles: readonly (readonly [number, number])[];
      readonly count: bigint;
      readonly sum: number;
    };

export interface ScenarioVariable {
  readonly name: string;
  readonly type: ValueType;
  readonly kind: VariableKind;
  readonly unit: string;
  readonly help: string;
  /** Undefined: it exists and is not yet synced. */
  readonly value: ScenarioValue | undefined;
}

export interface ScenarioObject {
  readonly id: string;
  readonly parent: string | undefined;
  readonly className: string;
  readonly state: ObjectState;
  readonly synced: boolean;
  readonly variables: readonly ScenarioVariable[];
}

export interface ScenarioStep {
  readonly afterMs: number;
  /** Object id, variable name, value. */
  readonly set: readonly (readonly [string, string, unknown])[];
  readonly add: readonly ScenarioObject[];
  readonly remove: readonly string[];
  readonly sync: readonly string[];
  readonly state: readonly (readonly [string, ObjectState])[];
  readonly exit: 'clean' | 'kill' | undefined;
}

export interface Scenario {
  readonly contextId: string | undefined;
  readonly poolName: string | undefined;
  readonly serverKey: string | undefined;
  readonly objects: readonly ScenarioObject[];
  readonly steps: readonly ScenarioStep[];
  readonly repeat: boolean;
}

// Checks the shape of a scenario and collects its problems.
const MAX_SHOWN = 50;

export class Checker {
  readonly #from: string;
  readonly #problems: string[] = [];

  constructor(from: string) {
    this.#from = from;
  }

  throwIfAny(): void {
    if (this.#problems.length === 0) return;
    const shown = this.#problems.slice(0, MAX_SHOWN);
    const more = this.#problems.length - shown.length;
    const rest = more > 0 ? [`${this.#from}: and ${more} more problems`] : [];
    throw new Fault('SCENARIO_INVALID', [...shown, ...rest].join('\n'));
  }

  /** An object; with `keys`, one without other keys. */
  record(value: unknown, at: string, keys?: readonly string[]): Record<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.#found(value, at, 'an object');
      return {};
    }
    for (const key of keys === undefined ? [] : Object.keys(value))
      if (!keys?.includes(key))
        this.#add(
          at === '' ? key : `${at}.${key}`,
          `unknown key, allowed: ${keys?.join(', ') ?? ''}`,
        );
    return value as Record<string, unknown>;
  }

  list(value: unknown, at: string): readonly unknown[] {
    if (Array.isArray(value)) return value;
    this.#found(value, at, 'a list');
    return [];
  }

  text(value: unknown, at: string): string {
    if (typeof value === 'string') return value;
    this.#found(value, at, 'a string');
    return '';
  }

  optionalText(value: unknown, at: string): string | undefined {
    return value === undefined || value === null ? undefined : this.text(value, at);
  }

  flag(value: unknown, at: string, fallback: boolean): boolean {
    if (value === undefined) return fallback;
    if (typeof value === 'boolean') return value;
    this.#found(value, at, 'true or false');
    return fallback;
  }

  oneOf<T extends string>(value: unknown, at: string, allowed: readonly [T, ...T[]]): T {
    const match = allowed.find((each) => each === value);
    if (match === undefined) this.#found(value, at, allowed.join(', '));
    return match ?? allowed[0];
  }

  milliseconds(value: unknown, at: string): number {
    if (typeof value === 'number' && value >= 0 && value <= 2 ** 31 - 1) return value;
    this.#found(value, at, 'milliseconds from 0 to 2147483647');
    return 0;
  }

  /** A value of that type. Integers may be decimal strings; NaN and infinities are strings. */
  value(value: unknown, type: ValueType, at: string): ScenarioValue {
    if (!isFramed(type)) return this.#scalar(value, type, at);
    if (type === 'string') return this.text(value, at);
    return type === 'histogram' ? this.#histogram(value, at) : this.#summary(value, at);
  }

  #scalar(value: unknown, type: ScalarType, at: string): ScenarioValue {
    const { bits, range } = scalarType(type);
    if (bits === 'bool') return this.flag(value, at, false);
    return range === undefined ? this.#float(value, at) : this.#integer(value, at, ...range);
  }

  #histogram(value: unknown, at: string): ScenarioValue {
    const record = this.record(value, at, ['bounds', 'counts', 'sum']);
    const bounds = this.list(record['bounds'], `${at}.bounds`).map((each, i) =>
      this.#float(each, `${at}.bounds[${i}]`),
    );
    const counts = this.list(record['counts'], `${at}.counts`).map((each, i) =>
      this.#count(each, `${at}.counts[${i}]`),
    );
    if (!isAscending(bounds) || !bounds.every(Number.isFinite))
      this.#found(bounds, `${at}.bounds`, 'finite numbers, each greater than the one before');
    if (counts.length !== bounds.length + 1)
      this.#add(
        `${at}.counts`,
        `${counts.length} counts for ${bounds.length} bounds, allowed: one more than bounds`,
      );
    return { bounds, counts, sum: this.#float(record['sum'], `${at}.sum`) };
  }

  #summary(value: unknown, at: string): ScenarioValue {
    const record = this.record(value, at, ['quantiles', 'count', 'sum']);
    // As pairs: an object would put the key "1" before "0.5".
    const quantiles = Object.entries(this.record(record['quantiles'], `${at}.quantiles`))
      .map(([q, each]) => [q, this.#float(each, `${at}.quantiles[${q}]`)] as const)
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([q, each]) => [this.#quantile(q, `${at}.quantiles`), each] as const);
    if (!isAscending(quantiles.map(([q]) => q)))
      this.#add(`${at}.quantiles`, 'a quantile is given twice, allowed: each once');
    const count = this.#count(record['count'], `${at}.count`);
    return { quantiles, count, sum: this.#float(record['sum'], `${at}.sum`) };
  }

  #quantile(key: string, at: string): number {
    const isQuantile = /^\d*\.?\d+(e-\d+)?$/.test(key) && Number(key) <= 1;
    if (!isQuantile) this.#found(key, at, 'keys that are numbers from 0 to 1');
    return isQuantile ? Number(key) : NaN;
  }

  #count(value: unknown, at: string): bigint {
    return this.#integer(value, at, 0n, 2n ** 64n - 1n);
  }

  #float(value: unknown, at: string): number {
    if (typeof value === 'number') return value;
    if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
    this.#found(value, at, 'a number, "NaN", "Infinity" or "-Infinity"');
    return 0;
  }

  #integer(value: unknown, at: string, least: bigint, most: bigint): bigint {
    const isExact = typeof value === 'number' && Number.isSafeInteger(value);
    const isDecimal = typeof value === 'string' && /^-?\d{1,20}$/.test(value);
    const integer = isExact || isDecimal ? BigInt(value) : undefined;
    if (integer !== undefined && integer >= least && integer <= most) return integer;
    this.#found(value, at, `an integer from ${least} to ${most}, beyond 2^53 as a decimal string`);
    return 0n;
  }

  #found(value: unknown, at: string, allowed: string): void {
    const found = value === undefined ? 'nothing' : JSON.stringify(value);
    this.#add(
      at,
      `found ${found.length > 80 ? `${found.slice(0, 80)}…` : found}, allowed: ${allowed}`,
    );
  }

  #add(at: string, what: string): void {
    this.#problems.push(`${this.#from}: ${at === '' ? 'the file' : at}: ${what}`);
  }
}

/**
 * True if each number is greater than the one before; anything but a number is reported elsewhere.
 */
const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || !(number <= (numbers[index - 1] ?? NaN)));

const TYPES = Object.keys(VALUE_TYPES) as [ValueType, ...ValueType[]];
const KINDS = ['unknown', 'counter', 'gauge'] as const;

/** @throws Fault SCENARIO_INVALID with one line for each problem */
export function readScenario(path: string): Scenario {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Fault('SCENARIO_INVALID', `Cannot read ${path}: ${messageOf(error)}`);
  }
  return parseScenario(text, path);
}

/** @param from the name of the file in messages */
export function parseScenario(text: string, from: string): Scenario {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Fault('SCENARIO_INVALID', `${from} is not JSON: ${messageOf(error)}`);
  }
  const check = new Checker(from);
  const file = check.record(json, '', [
    'context_id',
    'pool_name',
    'server_key',
    'objects',
    'steps',
    'repeat',
  ]);
  const scenario: Scenario = {
    contextId: check.optionalText(file['context_id'], 'context_id'),
    poolName: check.optionalText(file['pool_name'], 'pool_name'),
    serverKey: check.optionalText(file['server_key'], 'server_key'),
    objects: check
      .list(file['objects'], 'objects')
      .map((each, i) => parseObject(check, each, `objects[${i}]`)),
    steps: check
      .list(file['steps'] ?? [], 'steps')
      .map((each, i) => parseStep(check, each, `steps[${i}]`)),
    repeat: check.flag(file['repeat'], 'repeat', false),
  };
  check.throwIfAny();
  return scenario;
}

function parseObject(check: Checker, json: unknown, at: string): ScenarioObject {
  const object = check.record(json, at, ['id', 'parent', 'class', 'state', 'synced', 'variables']);
  const variables = check.record(object['variables'] ?? {}, `${at}.variables`);
  return {
    id: check.text(object['id'], `${at}.id`),
    parent: check.optionalText(object['parent'] ?? undefined, `${at}.parent`),
    className: check.text(object['class'], `${at}.class`),
    state: check.oneOf(object['state'] ?? 'normal', `${at}.state`, OBJECT_STATES),
    synced: check.flag(object['synced'], `${at}.synced`, true),
    variables: Object.entries(variables).map(([name, each]) =>
      parseVariable(check, name, each, `${at}.variables[${JSON.stringify(name)}]`),
    ),
  };
}

function parseVariable(check: Checker, name: string, json: unknown, at: string): ScenarioVariable {
  const variable = check.record(json, at, ['type', 'value', 'kind', 'unit', 'help']);
  const type = check.oneOf(variable['type'], `${at}.type`, TYPES);
  const raw = variable['value'];
  return {
    name,
    type,
    kind: check.oneOf(variable['kind'] ?? 'unknown', `${at}.kind`, KINDS),
    unit: check.optionalText(variable['unit'], `${at}.unit`) ?? '',
    help: check.optionalText(variable['help'], `${at}.help`) ?? '',
    value: raw === undefined || raw === null ? undefined : check.value(raw, type, `${at}.value`),
  };
}

function parseStep(check: Checker, json: unknown, at: string): ScenarioStep {
  const keys = ['after_ms', 'set', 'add', 'remove', 'sync', 'state', 'exit'];
  const step = check.record(json, at, keys);
  const set = check.record(step['set'] ?? {}, `${at}.set`);
  const state = check.record(step['state'] ?? {}, `${at}.state`);
  const texts = (key: string) =>
    check
      .list(step[key] ?? [], `${at}.${key}`)
      .map((each, i) => check.text(each, `${at}.${key}[${i}]`));
  return {
    afterMs: check.milliseconds(step['after_ms'], `${at}.after_ms`),
    set: Object.entries(set).flatMap(([id, values]) =>
      Object.entries(check.record(values, `${at}.set[${JSON.stringify(id)}]`)).map(
        ([name, value]) => [id, name, value] as const,
      ),
    ),
    add: check
      .list(step['add'] ?? [], `${at}.add`)
      .map((each, i) => parseObject(check, each, `${at}.add[${i}]`)),
    remove: texts('remove'),
    sync: texts('sync'),
    state: Object.entries(state).map(
      ([id, value]) => [id, check.oneOf(value, `${at}.state`, OBJECT_STATES)] as const,
    ),
    exit:
      step['exit'] === undefined
        ? undefined
        : check.oneOf(step['exit'], `${at}.exit`, ['clean', 'kill'] as const),
  };
}
