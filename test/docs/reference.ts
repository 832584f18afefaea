// Writes the generated parts of the reference pages from the tables that the programs use.
import { APPLICATION, CLASS, OWN_TEXTS, OWN_VARIABLES } from '#app/bridge/segment/own-root.js';
import { BRIDGE, COMPONENT } from '#app/bridge/settings/component-table.js';
import { PROGRAM as BRIDGE_PROGRAM } from '#app/bridge/settings/options.js';
import { ODDITIES } from '#app/bridge/tree/component-tree.js';
import { declaredName } from '#app/catalogue/names.js';
import { PROGRAM } from '#app/config/arguments.js';
import { DISCOVER, HOST_PAGE, SCOPE } from '#app/config/file-rule.js';
import { OF_TARGET, SETTINGS, isReloaded } from '#app/config/settings.js';
import { shown } from '#app/document/document.js';
import type { VariableKind } from '#app/model.js';
import { builtInOptions, effectOf } from '#app/rules/command-option.js';
import type { CommandOptions } from '#app/rules/command-option.js';
import { line, name, words } from '#app/rules/formats.js';
import type { Program } from '#app/rules/program.js';
import { keyOf } from '#app/rules/table.js';
import type { TableFields } from '#app/rules/table.js';
import { FORMATS } from '#app/targets/formats.js';

/** The generated parts of a page, by their names in the page. */
type Parts = Readonly<Record<string, string>>;

/** The parts of docs/configuration.md. */
export function configurationParts(): Parts {
  const reloaded = new Set(Object.keys(SETTINGS).filter(isReloaded));
  const formats = [...FORMATS].filter(([, { settings }]) => Object.keys(settings).length > 0);
  return {
    settings: `${TYPE_LEGEND}\n${fieldsMarkdown(SETTINGS, (setting) =>
      reloaded.has(setting) ? 'A reload applies it.' : '',
    )}`,
    'keys of targets': `${Object.keys(OF_TARGET)
      .map(keyOf)
      .map((key) => `[${key}](#${key})`)
      .join(', ')}\n`,
    discovery: fieldsMarkdown(DISCOVER),
    'host page': fieldsMarkdown(HOST_PAGE),
    scopes: fieldsMarkdown(SCOPE),
    'settings of formats': formats
      .map(
        ([format, { settings }]) =>
          `Keys of \`format = "${format}"\`:\n\n${fieldsMarkdown(settings)}`,
      )
      .join('\n'),
    options: optionsMarkdown(PROGRAM),
  };
}

/** The parts of docs/bridge-configuration.md. */
export const bridgeParts = (): Parts => ({
  settings: `${TYPE_LEGEND}\n${fieldsMarkdown(BRIDGE)}`,
  components: fieldsMarkdown(COMPONENT),
  options: optionsMarkdown(BRIDGE_PROGRAM),
  'irregular items': markdownTable(
    ['Kind', 'Meaning'],
    Object.entries(ODDITIES).map(([oddity, meaning]) => [`\`${oddity}\``, plain(meaning)]),
  ),
  metrics: markdownTable(
    ['Metric', 'Type', 'Meaning'],
    [
      ...Object.entries(OWN_VARIABLES).map(([variable, { kind, unit, help }]) =>
        ownMetric(variable, kind, help, unit),
      ),
      ...Object.entries(OWN_TEXTS).map(([variable, help]) => ownMetric(variable, 'info', help)),
    ],
  ),
});

/** The table row of a metric of the bridge, with the name that the exporter gives to the metric. */
function ownMetric(
  variable: string,
  type: VariableKind | 'info',
  help: string,
  unit = '',
): readonly string[] {
  const parts = { app: APPLICATION, className: CLASS, variable, unit, type };
  return [`\`${declaredName(parts)}\``, type, plain(help)];
}

/** Short names of frequent types, by the allowed values of their rules. */
const SHORT_TYPES = new Map([
  [name.allowed, 'a name'],
  [line.allowed, 'a line'],
  [words.allowed, 'an array of lines'],
]);

const singleLine = (allowed: string): string =>
  allowed.replace('a string', 'a single-line string').replace(' in one line', '');

/** The legend that explains the short type names on reference pages. */
const TYPE_LEGEND = `* A *name* is ${name.allowed}.
* A *line* is ${singleLine(line.allowed)}.
* An *array of lines* is ${singleLine(words.allowed)}.
`;

/**
 * A heading for each field, above its meaning, default, type and allowed values.
 * @param remarkOn a further sentence for a field
 */
function fieldsMarkdown(
  fields: TableFields,
  remarkOn: (name: string) => string = () => '',
): string {
  return Object.entries(fields)
    .map(([name, { rule, meaning, fallback }]) => {
      const need = fallback === undefined ? 'Required' : `Default: \`${asToml(fallback)}\``;
      const facts = [
        `${need}. Allowed: ${marked(SHORT_TYPES.get(rule.allowed) ?? rule.allowed)}.`,
        remarkOn(name),
      ];
      return `### ${keyOf(name)}\n\n${marked(meaning)}.\n\n${facts.join(' ').trimEnd()}\n`;
    })
    .join('\n');
}

/** Text as Markdown: keys and file names with underscores are code, other special characters are escaped. */
const marked = (text: string): string =>
  text.replace(/\[\[\w+\]\]|[\w.]*\w_[\w.]*\w|[\\*_|<>[\]]/g, (found) =>
    found.length > 1 ? `\`${found}\`` : `\\${found}`,
  );

/** A table of options. Each row has the setting that the option overrides, or else the option's effect. */
export function optionsMarkdown(program: Program<CommandOptions>): string {
  const rows = [...Object.values(program.options), ...builtInOptions(program)].map((option) => [
    `\`${option.flags}\``,
    option.setting === undefined ? plain(effectOf(option)) : `Sets \`${option.setting}\``,
  ]);
  return markdownTable(['Option', 'Effect'], rows);
}

/** The table of the exit statuses of programs. */
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

/** A table of cells that are already Markdown. */
export const markdownTable = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

/** Escapes the special characters of Markdown. */
const plain = (text: string): string => text.replace(/[\\*_|<>[\]]/g, '\\$&');

/** A default value as TOML. The default of a table is always an empty table. */
const asToml = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(asToml).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return '{}';
  return typeof value === 'number' ? String(value) : shown(value);
};
