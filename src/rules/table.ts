// Tables of named fields: the rule that reads a TOML table by rows.
import { shown, TomlDate } from '../document/key-path.js';
import type { Path } from '../document/key-path.js';
import { nearest } from '../document/nearest.js';
import type { Report, Rule } from './rule.js';

/** One row: a TOML key, what it may be, and what it means. */
export interface Field<T> {
  readonly key: string;
  readonly rule: Rule<T>;
  readonly meaning: string;
  /** The value where the file has none; undefined for a key that must be there. */
  readonly fallback: T | undefined;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** The values of a table, named as its rows are. */
export type ValuesOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

/** A key with a default. */
export const optional = <T>(
  key: string,
  fallback: NoInfer<T>,
  rule: Rule<T>,
  meaning: string,
): Field<T> => ({ key, rule, meaning, fallback: Object.freeze(fallback) });

/** A key that must be there. */
export const required = <T>(key: string, rule: Rule<T>, meaning: string): Field<T> => ({
  key,
  rule,
  meaning,
  fallback: undefined,
});

/** Tables of exactly these fields. */
export function table<F extends Fields>(name: string, fields: F): Rule<ValuesOf<F>> {
  const known = Object.values(fields).map(({ key }) => key);

  const read = (raw: unknown, path: Path, report: Report) => {
    if (!isTable(raw)) {
      report(path, `found ${shown(raw)}, allowed: ${name}`);
      return undefined;
    }
    let refused = 0;
    const refuse: Report = (...complaint) => {
      refused++;
      report(...complaint);
    };
    for (const key of Object.keys(raw))
      if (!known.includes(key)) refuse([...path, key], unknownKey(key, known), 'key');
    const values = Object.entries(fields).map(([as, field]) => [
      as,
      readField(raw, field, path, refuse),
    ]);
    // Two tables that lack the same key are alike only in that, which is no fault of its own.
    return refused === 0 ? (Object.freeze(Object.fromEntries(values)) as ValuesOf<F>) : undefined;
  };
  return { type: 'table', allowed: name, read };
}

function readField(
  raw: Readonly<Record<string, unknown>>,
  { key, rule, fallback }: Field<unknown>,
  path: Path,
  report: Report,
): unknown {
  if (Object.hasOwn(raw, key)) return rule.read(raw[key], [...path, key], report);
  if (fallback === undefined)
    report([...path, key], `found nothing, needed: ${rule.allowed}`, 'key');
  return fallback;
}

function unknownKey(key: string, known: readonly string[]): string {
  const guess = nearest(key, known);
  return guess === undefined
    ? `unknown key, allowed: ${known.join(', ')}`
    : `unknown key, the nearest known one is ${guess}`;
}

const isTable = (raw: unknown): raw is Readonly<Record<string, unknown>> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !(raw instanceof TomlDate);
