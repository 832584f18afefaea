// Tables of named fields: the rule that reads a TOML table by rows.
import { TomlDate, keyPath, shown } from '../document/document.js';
import type { Path } from '../document/document.js';
import { hint } from '../document/nearest.js';
import { builtInOptions, effectOf, nameOf } from './command-option.js';
import type { CommandOptions } from './command-option.js';
import type { Program } from './program.js';
import { rule } from './rule.js';
import type { ReportProblem, Rule } from './rule.js';

/** One row: a TOML key, what it may be, and what it means. */
export interface Field<T> {
  readonly key: string;
  readonly rule: Rule<T>;
  readonly meaning: string;
  /** The value where the file has none; undefined for a required key. */
  readonly fallback: T | undefined;
}

export type TableFields = Readonly<Record<string, Field<unknown>>>;

/** The values of a table, named as its rows are. */
export type ValuesOf<F extends TableFields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

/** A key with a default. */
export const optional = <T>(
  key: string,
  fallback: NoInfer<T>,
  rule: Rule<T>,
  meaning: string,
): Field<T> => ({ key, rule, meaning, fallback: Object.freeze(fallback) });

/** A required key. */
export const required = <T>(key: string, rule: Rule<T>, meaning: string): Field<T> => ({
  key,
  rule,
  meaning,
  fallback: undefined,
});

/** A table with any keys, for callers that read them one by one. */
export const anyTable: Rule<Readonly<Record<string, unknown>>> = rule('table', 'a table', (raw) =>
  isTable(raw) ? raw : undefined,
);

/** What to say of a key that a table does not know, where another table does; else nothing. */
export type Elsewhere = (key: string) => string;
const NOWHERE: Elsewhere = () => '';

/** Tables of exactly these fields. */
export function table<F extends TableFields>(
  name: string,
  fields: F,
  elsewhere = NOWHERE,
): Rule<ValuesOf<F>> {
  const known = Object.values(fields).map(({ key }) => key);

  const read = (raw: unknown, path: Path, report: ReportProblem) => {
    if (!isTable(raw)) {
      report(path, `found ${shown(raw)}, allowed: ${name}`);
      return undefined;
    }
    reportUnknownKeys(raw, known, path, report, elsewhere);
    const values = Object.entries(fields).map(
      // The default replaces an invalid value, so that the rest can be checked as well.
      ([as, field]) => [as, readField(raw, field, path, report) ?? field.fallback] as const,
    );
    const isUsable = values.every(([, value]) => value !== undefined);
    return isUsable ? (Object.freeze(Object.fromEntries(values)) as ValuesOf<F>) : undefined;
  };
  return { type: 'table', allowed: name, read };
}

function readField(
  raw: Readonly<Record<string, unknown>>,
  { key, rule, fallback }: Field<unknown>,
  path: Path,
  report: ReportProblem,
): unknown {
  if (Object.hasOwn(raw, key)) return rule.read(raw[key], [...path, key], report);
  if (fallback === undefined) reportMissing([...path, key], rule.allowed, report);
  return fallback;
}

/** Reports a missing key; `allowed` says what it holds. */
export function reportMissing(path: Path, allowed: string, report: ReportProblem): void {
  report(path, `found nothing, needed: ${allowed}`, 'key');
}

/** Reports the keys of a table that are not among those known, each with the nearest one or its own place. */
export function reportUnknownKeys(
  raw: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: Path,
  report: ReportProblem,
  elsewhere = NOWHERE,
): void {
  for (const key of Object.keys(raw).filter((each) => !known.includes(each))) {
    const guess = hint(key, known) || elsewhere(key);
    const rest = guess === '' ? `, allowed: ${known.join(', ')}` : guess;
    report([...path, key], `unknown key${rest}`, 'key');
  }
}

/** Whether a raw value is a table. */
export const isTable = (raw: unknown): raw is Readonly<Record<string, unknown>> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !(raw instanceof TomlDate);

/** @param isGiven whether the option gave the value; by default no, as for what a file holds */
type SettingNames = (path: Path, isGiven?: boolean) => string;

/**
 * `metrics_port (--metrics-port)`; the option comes first where it gave the value. What no option
 * overrides is its path alone.
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

/** One row for each field: key, type, default, allowed values, meaning. */
export function fieldsMarkdown(fields: TableFields): string {
  const rows = Object.values(fields).map(({ key, rule, meaning, fallback }) => [
    `\`${key}\``,
    rule.type,
    fallback === undefined ? 'required' : `\`${asToml(fallback)}\``,
    plain(rule.allowed),
    plain(meaning),
  ]);
  return markdownTable(['Key', 'Type', 'Default', 'Allowed', 'Meaning'], rows);
}

/** One row for each option: its flags, its effect, and the setting that it overrides. */
export function optionsMarkdown(program: Program<CommandOptions>): string {
  const rows = [...Object.values(program.options), ...builtInOptions(program)].map((option) => [
    `\`${option.flags}\``,
    plain(effectOf(option)),
    option.setting === undefined ? '' : `\`${option.setting}\``,
  ]);
  return markdownTable(['Option', 'Effect', 'Setting'], rows);
}

/** A Markdown table; the cells are Markdown already. */
export const markdownTable = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

/** Escapes the characters that have a meaning in Markdown. */
export const plain = (text: string): string => text.replace(/[\\*_|<>[\]]/g, '\\$&');

/** A default as TOML; that of a table is empty. */
const asToml = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(asToml).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return '{}';
  return typeof value === 'number' ? String(value) : shown(value);
};
