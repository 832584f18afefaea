// Rules for TOML tables with named fields, and the reference pages of these fields.
import { TomlDate, keyPath, shown } from '../document/document.js';
import type { Path } from '../document/document.js';
import { hint } from '../document/nearest.js';
import { builtInOptions, effectOf, nameOf } from './command-option.js';
import type { CommandOptions } from './command-option.js';
import { line, name as nameRule, words } from './formats.js';
import type { Program } from './program.js';
import { rule } from './rule.js';
import type { ReportProblem, Rule } from './rule.js';

/** A key of a table: its rule, meaning and default. */
export interface Field<T> {
  readonly key: string;
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
  const known = Object.values(fields).map(({ key }) => key);

  const read = (raw: unknown, path: Path, report: ReportProblem) => {
    if (!isTable(raw)) {
      report(path, `found ${shown(raw)}, allowed: ${name}`);
      return undefined;
    }
    reportUnknownKeys(raw, known, path, report, remarkOn);
    const values = Object.entries(fields).map(
      // The default replaces an invalid value, so that callers can check the rest of the table.
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

/** Whether a raw value is a table. */
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

/** Short names of frequent types, by the allowed values of their rules. */
const SHORT_TYPES = new Map([
  [nameRule.allowed, 'a name'],
  [line.allowed, 'a line'],
  [words.allowed, 'an array of lines'],
]);

const singleLine = (allowed: string): string =>
  allowed.replace('a string', 'a single-line string').replace(' in one line', '');

/** The legend, in Markdown, that explains the short type names on reference pages. */
export const TYPE_LEGEND = `* A *name* is ${nameRule.allowed}.
* A *line* is ${singleLine(line.allowed)}.
* An *array of lines* is ${singleLine(words.allowed)}.
`;

/**
 * A heading for each field in Markdown, above its meaning, default, type and allowed values.
 * @param remarkOn a further sentence for a key
 */
export function fieldsMarkdown(
  fields: TableFields,
  remarkOn: (key: string) => string = () => '',
): string {
  return Object.values(fields)
    .map(({ key, rule, meaning, fallback }) => {
      const need = fallback === undefined ? 'Required' : `Default: \`${asToml(fallback)}\``;
      const facts = [
        `${need}. Allowed: ${marked(SHORT_TYPES.get(rule.allowed) ?? rule.allowed)}.`,
        remarkOn(key),
      ];
      return `### ${key}\n\n${marked(meaning)}.\n\n${facts.join(' ').trimEnd()}\n`;
    })
    .join('\n');
}

/** Text as Markdown: keys and file names with underscores are code, other special characters are escaped. */
const marked = (text: string): string =>
  text.replace(/\[\[\w+\]\]|[\w.]*\w_[\w.]*\w|[\\*_|<>[\]]/g, (found) =>
    found.length > 1 ? `\`${found}\`` : `\\${found}`,
  );

/** A Markdown table of options. Each row has the setting that the option overrides, or else the option's effect. */
export function optionsMarkdown(program: Program<CommandOptions>): string {
  const rows = [...Object.values(program.options), ...builtInOptions(program)].map((option) => [
    `\`${option.flags}\``,
    option.setting === undefined ? plain(effectOf(option)) : `Sets \`${option.setting}\``,
  ]);
  return markdownTable(['Option', 'Effect'], rows);
}

/** The table of the exit statuses of programs, in Markdown. */
export function exitStatusesMarkdown(
  programs: readonly Pick<Program<CommandOptions>, 'name' | 'statuses'>[],
): string {
  const programsOf = new Map<string, string[]>();
  for (const { name, statuses } of programs)
    for (const [status, meaning] of Object.entries(statuses)) {
      const row = `${status} ${plain(meaning)}`;
      programsOf.set(row, [...(programsOf.get(row) ?? []), `\`${name}\``]);
    }
  const rows = [...programsOf].map(([row, names]) => {
    const [status = '', ...meaning] = row.split(' ');
    return [status, names.join(', '), meaning.join(' ')];
  });
  rows.sort(([a = ''], [b = '']) => Number(a) - Number(b));
  return markdownTable(['Status', 'Programs', 'Meaning'], rows);
}

/** A Markdown table of cells that are already Markdown. */
export const markdownTable = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

/** Escapes the special characters of Markdown. */
export const plain = (text: string): string => text.replace(/[\\*_|<>[\]]/g, '\\$&');

/** A default value as TOML. The default of a table is always an empty table. */
const asToml = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(asToml).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return '{}';
  return typeof value === 'number' ? String(value) : shown(value);
};
