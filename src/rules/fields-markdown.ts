// Reference pages: the fields of a table as a Markdown table.
import { shown } from '../document/document.js';
import { builtInOptions } from './built-in-options.js';
import { effectOf } from './command-option.js';
import type { CommandOptions } from './command-option.js';
import type { Program } from './program.js';
import type { Fields } from './table.js';

/** One row for each field: key, type, default, allowed values, meaning. */
export function fieldsMarkdown(fields: Fields): string {
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
