// Rules for TOML tables with named fields.
import { TomlDate, keyPath, shown } from '../document/document.js';
import type { Path } from '../document/document.js';
import { hint } from '../document/nearest.js';
import { nameOf } from './command-option.js';
import type { CommandOptions } from './command-option.js';
import { rule } from './rule.js';
import type { ReportProblem, Rule } from './rule.js';

/** A field of a table: its rule, meaning and default. */
export interface Field<T> {
  readonly rule: Rule<T>;
  readonly meaning: string;
  /** The default; undefined for a required key. */
  readonly fallback: T | undefined;
}

export type TableFields = Readonly<Record<string, Field<unknown>>>;

/** The values of a table, by the names of its fields. */
export type ValuesOf<F extends TableFields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

/** The values of a table without keys; undefined for each required key. */
export const defaultsOf = <F extends TableFields>(fields: F): ValuesOf<F> =>
  Object.freeze(
    Object.fromEntries(Object.entries(fields).map(([name, { fallback }]) => [name, fallback])),
  ) as ValuesOf<F>;

export const optional = <T>(fallback: NoInfer<T>, rule: Rule<T>, meaning: string): Field<T> => ({
  rule,
  meaning,
  fallback: Object.freeze(fallback),
});

export const required = <T>(rule: Rule<T>, meaning: string): Field<T> => ({
  rule,
  meaning,
  fallback: undefined,
});

/** The key of a field in a file: its name in snake case, such as `server_key` for `serverKey`. */
export const keyOf = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A table with any keys, which the caller reads one by one. */
export const anyTable: Rule<Readonly<Record<string, unknown>>> = rule('table', 'a table', (raw) =>
  isTable(raw) ? raw : undefined,
);

/** Returns a remark on an unknown key, for example that the key belongs to another table; empty for none. */
export type KeyRemark = (key: string) => string;
const NO_REMARK: KeyRemark = () => '';

/** The rule for a table with exactly these fields. */
export function table<F extends TableFields>(
  name: string,
  fields: F,
  remarkOn = NO_REMARK,
): Rule<ValuesOf<F>> {
  const known = Object.keys(fields).map(keyOf);

  const read = (raw: unknown, path: Path, report: ReportProblem) => {
    if (!isTable(raw)) {
      report(path, `found ${shown(raw)}, allowed: ${name}`);
      return undefined;
    }
    reportUnknownKeys(raw, known, path, report, remarkOn);
    const values = Object.entries(fields).map(
      // The default replaces an invalid value, so that callers can check the rest of the table.
      ([name, field]) =>
        [name, readField(raw, keyOf(name), field, path, report) ?? field.fallback] as const,
    );
    const isUsable = values.every(([, value]) => value !== undefined);
    return isUsable ? (Object.freeze(Object.fromEntries(values)) as ValuesOf<F>) : undefined;
  };
  return { type: 'table', allowed: name, read };
}

function readField(
  raw: Readonly<Record<string, unknown>>,
  key: string,
  { rule, fallback }: Field<unknown>,
  path: Path,
  report: ReportProblem,
): unknown {
  if (Object.hasOwn(raw, key)) return rule.read(raw[key], [...path, key], report);
  if (fallback === undefined) reportMissing([...path, key], rule.allowed, report);
  return fallback;
}

/** Reports a missing key. @param allowed describes its values */
export function reportMissing(path: Path, allowed: string, report: ReportProblem): void {
  report(path, `found nothing, needed: ${allowed}`, 'key');
}

/** Reports the unknown keys of a table, each with the nearest known key or a remark. */
export function reportUnknownKeys(
  raw: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: Path,
  report: ReportProblem,
  remarkOn = NO_REMARK,
): void {
  for (const key of Object.keys(raw).filter((each) => !known.includes(each))) {
    const guess = hint(key, known) || remarkOn(key);
    const rest = guess === '' ? `, allowed: ${known.join(', ')}` : guess;
    report([...path, key], `unknown key${rest}`, 'key');
  }
}

export const isTable = (raw: unknown): raw is Readonly<Record<string, unknown>> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !(raw instanceof TomlDate);

/** Names a setting. @param isGiven whether an option gave its value; false by default */
type SettingNames = (path: Path, isGiven?: boolean) => string;

/**
 * Returns a function that names settings: `metrics_port (--metrics-port)`, or with the option first if it gave the
 * value. A setting without an option is named by its path alone.
 */
export function settingNames(options: CommandOptions): SettingNames {
  const names = new Map<string | number, string>();
  for (const option of Object.values(options))
    if (option.setting !== undefined) names.set(option.setting, nameOf(option));

  return (path, isGiven = false) => {
    const option = names.get(path[0] ?? '');
    if (option === undefined) return keyPath(path);
    return isGiven ? `${option} (${keyPath(path)})` : `${keyPath(path)} (${option})`;
  };
}
