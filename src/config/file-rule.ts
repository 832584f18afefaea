// The rule of the configuration file: settings, targets (spec 2.2) and scopes (spec 2.3).
import { invalid } from '../document/document.js';
import type { SettingsDocument } from '../document/document.js';
import { readToml } from '../document/toml-file.js';
import { application, line, name, timeZone, words } from '../rules/formats.js';
import { flag, indexed, list, text } from '../rules/rule.js';
import { isTable, optional, required, table } from '../rules/table.js';
import type { KeyRemark, ValuesOf } from '../rules/table.js';
import { SETTINGS, formatSettings } from './settings.js';

/** Converts a raw value of a file to JSON text for comparisons. Integers of a file are bigints, and become strings. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? String(each) : each));

/** The keys of a `[[targets]]` table. */
export const TARGET = {
  app: required('app', application, 'Application metric set of the target'),
  serverKey: required('server_key', name, 'Server key of the publisher'),
  format: optional('format', 'native', name, SETTINGS.format.meaning),
  formatSettings: optional(
    'format_settings',
    {},
    formatSettings,
    'Settings of the format of the target',
  ),
  instance: optional('instance', '', line, SETTINGS.instance.meaning),
  variable: optional('variable', '', line, SETTINGS.variable.meaning),
  classes: optional('classes', [], words, SETTINGS.classes.meaning),
  seedPathGroups: optional('seed_path_groups', [], words, SETTINGS.seedPathGroups.meaning),
  seedPaths: optional('seed_paths', [], words, SETTINGS.seedPaths.meaning),
  showUncatalogued: optional('show_uncatalogued', false, flag, SETTINGS.showUncatalogued.meaning),
  pathLabels: optional('path_labels', [], words, SETTINGS.pathLabels.meaning),
  publisherTimeZone: optional(
    'publisher_time_zone',
    '',
    timeZone,
    SETTINGS.publisherTimeZone.meaning,
  ),
};

const scopeName = text(
  /^[A-Za-z0-9._-]{1,256}$/,
  'a string of 1 to 256 letters, digits, ".", "_" and "-"',
);
const pattern = text(
  /^[A-Za-z0-9_:*]{1,256}$/,
  'a string of 1 to 256 letters, digits, "_", ":" and "*"',
);

/** The keys of a `[[metric_scopes]]` table. */
export const SCOPE = {
  name: required('name', scopeName, 'Name of the scope in URLs. Each scope needs a different name'),
  metrics: required(
    'metrics',
    list(pattern, { min: 1, max: 1024 }),
    'Metric names; * matches any text. A name of a summary or histogram selects all its series',
  ),
};

export type TargetTable = ValuesOf<typeof TARGET> & { readonly index: number };
export type ScopeConfig = ValuesOf<typeof SCOPE>;

const topLevel = new Set(Object.values(SETTINGS).map(({ key }) => key));

/** The remark on a top-level setting that stands below a table header: TOML reads it as a key of that table. */
const misplaced: KeyRemark = (key) =>
  topLevel.has(key)
    ? ' in a table; it is a top-level setting, so put it above the first table'
    : '';

const targetsOf = (remarkOn?: KeyRemark) =>
  list(indexed(table('a [[targets]] table', TARGET, remarkOn)), {
    max: 1024,
    different: { by: (target) => jsonOf({ ...target, index: 0 }) },
  });
const scopes = list(table('a [[metric_scopes]] table', SCOPE, misplaced), {
  max: 256,
  different: { by: (scope) => scope.name, at: 'name' },
});

export const CONFIG_FILE = table('a table', {
  ...SETTINGS,
  targets: optional('targets', [], targetsOf(misplaced), 'The targets of multi-target mode'),
  metricScopes: optional('metric_scopes', [], scopes, 'Named subsets of the metrics'),
});

/** The legacy target file (spec 2.4). */
export const TARGETS_FILE = table('a table', {
  targets: required('targets', targetsOf(), 'The targets, one per line'),
});

/** Reads a configuration file. @throws Fault CONFIG_INVALID if it cannot be read, is not TOML or is a catalogue */
export function readConfigurationFile(file: string): SettingsDocument {
  const document = readToml(file);
  const { classes } = document.values;
  // As a setting, `classes` is an array of strings; only a catalogue has [[classes]] tables.
  if (!Array.isArray(classes) || !classes.some(isTable)) return document;
  const offset = document.places.offset(['classes'], 'key') ?? 0;
  const text =
    'found [[classes]] tables, so this looks like a catalogue; add its path to catalogue_files in a configuration file';
  throw invalid(document.places, [{ offset, text }]);
}
