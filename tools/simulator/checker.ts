// Checks the shape of a scenario and collects its problems.
import { Fault } from '#app/errors.js';
import type { ValueType } from '#app/model.js';
import { isFramed, scalarType } from '#app/published.js';
import type { ScalarType } from '#app/published.js';
import type { ScenarioValue } from './scenario-model.js';

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
