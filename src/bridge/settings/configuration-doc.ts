// Writes docs/bridge-configuration.md from the tables that the bridge itself uses.
import { describedName } from '../../catalogue/names.js';
import { fieldsMarkdown, markdownTable, optionsMarkdown, plain } from '../../rules/table.js';
import { PROGRAM } from './options.js';
import { BRIDGE, COMPONENT } from './component-table.js';
import { ODDITIES } from '../tree/component-tree.js';
import {
  APPLICATION,
  CLASSES,
  FAILED_POLLS,
  ODD_ITEMS,
  OWN_TEXTS,
  OWN_VARIABLES,
} from '../segment/own-root.js';
import type { OwnRow } from '../segment/own-root.js';
import { FAILURE_REASONS } from '../poll/fetch-body.js';

/** The whole reference page of the bridge, as Markdown. */
export function bridgeMarkdown(): string {
  return [
    '<!-- Generated from src/bridge; change the tables there, not this page. -->',
    '# Configuration of shm_bridge',
    '[bridge.md](bridge.md) is the way in. The configuration is one TOML file, a regular file of at most',
    '1 MiB of UTF-8 text. An invalid file is refused as a whole (exit status 2). Every fault, in the file',
    'and in the files and environment variables that it names, is reported in a line of its own with file,',
    'line, column, key, what was found and what is allowed. `--check-config` checks this and nothing else.',
    'Relative paths start at the folder of the configuration file.',
    '[examples/shm_bridge.toml](../examples/shm_bridge.toml) shows every key.',
    '',
    '## Top-level keys',
    fieldsMarkdown(BRIDGE),
    '## `[[components]]`',
    'One table a component, 1 to 64.',
    '',
    fieldsMarkdown(COMPONENT),
    'What is above a selected object is published too, without variables, and so is every root. A security',
    'key is 1 to 1024 printable ASCII characters in one line; a line break at its end does not count. A key',
    'that the component refuses is read again before the next poll.',
    '',
    '## Command-line options',
    optionsMarkdown(PROGRAM),
    '## Why a poll fails',
    'The reason is in the log, and in the id of the object that counts it, as in',
    `\`${metricOf(CLASSES.failure, FAILED_POLLS.variable, FAILED_POLLS.row)}{object="failures.refused"}\`.`,
    '',
    meaningTable('Reason', FAILURE_REASONS),
    '## Irregular items of a tree',
    'None of this makes a poll fail. It is counted in',
    `\`${metricOf(CLASSES.oddity, ODD_ITEMS.variable, ODD_ITEMS.row)}{object="oddities.duplicate_objects"}\` and so on.`,
    '',
    meaningTable('Oddity', ODDITIES),
    '## What the bridge reports about itself',
    'For each component there is a root `<host>.<number>.shm_bridge` in its segment, numbered as the file has',
    'them. The exporter shows it as a target with `app = "shm_bridge"`, each metric with the label',
    '`object="@root"`.',
    '',
    ownTable(),
  ].join('\n');
}

const meaningTable = (what: string, rows: Readonly<Record<string, string>>): string =>
  markdownTable(
    [what, 'Meaning'],
    Object.entries(rows).map(([name, meaning]) => [`\`${name}\``, plain(meaning)]),
  );

function ownTable(): string {
  const values = Object.entries(OWN_VARIABLES).map(([variable, row]) => [
    `\`${metricOf(CLASSES.component, variable, row)}\``,
    row.kind,
    plain(row.help),
  ]);
  const texts = Object.entries(OWN_TEXTS).map(([variable, help]) => [
    `\`${metricOf(CLASSES.component, variable)}\``,
    'info',
    plain(help),
  ]);
  return markdownTable(['Metric', 'Type', 'Meaning'], [...values, ...texts]);
}

/** The exporter's name of a metric, derived from the class and the declaration of its variable. */
function metricOf(className: string, variable: string, row?: OwnRow): string {
  const type = row?.kind ?? 'info';
  return describedName({ app: APPLICATION, className, variable, unit: row?.unit ?? '', type });
}
