// Writes docs/bridge-configuration.md from the tables that the bridge itself uses.
import { declaredName } from '../../catalogue/names.js';
import {
  TYPE_LEGEND,
  fieldsMarkdown,
  markdownTable,
  optionsMarkdown,
  plain,
} from '../../rules/table.js';
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

/** The whole reference page of the bridge, as Markdown. */
export function bridgeMarkdown(): string {
  return [
    '<!-- Generated from src/bridge; change the tables there, not this page. -->',
    '# Configuration of shm_bridge',
    '',
    'Use this page to look up a setting, an option or a metric of `shm_bridge`. [bridge.md](bridge.md) explains how to set',
    'it up, and what to do when a poll fails.',
    '',
    'The configuration is one TOML file of at most 1 MiB in UTF-8;',
    '[examples/shm_bridge.toml](../examples/shm_bridge.toml) is a file to start from. If the file is invalid, the bridge exits',
    'with status 2. It reports every fault, including faults of the key and certificate files and environment variables that',
    'the file names.',
    '',
    '## Settings',
    '',
    'The bridge resolves relative paths from the folder of the file.',
    '',
    TYPE_LEGEND,
    fieldsMarkdown(BRIDGE),
    '## Components',
    '',
    'The file has a table for each component, 1 to 64:',
    '',
    '```toml',
    '[[components]]',
    'name = "ads"',
    'url = "http://127.0.0.1:8080"',
    'server_key = "82"',
    '```',
    '',
    fieldsMarkdown(COMPONENT),
    'The bridge also publishes the roots and the parents of selected objects, but without variables. A security key is one',
    'line of 1 to 1024 printable ASCII characters.',
    '',
    '## Command-line options',
    '',
    optionsMarkdown(PROGRAM),
    '## Irregular items of a tree',
    '',
    `A poll succeeds even if its tree has irregular items. \`${metricOf(CLASSES.oddity, ODD_ITEMS.variable, ODD_ITEMS.row)}{object="oddities.<kind>"}\` counts each kind.`,
    '',
    markdownTable(
      ['Kind', 'Meaning'],
      Object.entries(ODDITIES).map(([name, meaning]) => [`\`${name}\``, plain(meaning)]),
    ),
    '## Metrics of the bridge',
    '',
    'In the segment of each component, the bridge also publishes a root `<host>.<number>.shm_bridge`; the numbers follow the',
    'order of the file. The exporter shows this root as a target with `app = "shm_bridge"`. Each metric has the label',
    '`object="@root"`.',
    `\`${metricOf(CLASSES.failure, FAILED_POLLS.variable, FAILED_POLLS.row)}{object="failures.<reason>"}\` counts failed polls by [reason](bridge.md#no-tree-reason-by-reason).`,
    '',
    ownTable(),
  ].join('\n');
}

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

/** The name that the exporter gives to the metric of a variable. */
function metricOf(className: string, variable: string, row?: OwnRow): string {
  const type = row?.kind ?? 'info';
  return declaredName({ app: APPLICATION, className, variable, unit: row?.unit ?? '', type });
}
