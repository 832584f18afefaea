// The rule of the configuration file: settings, targets (spec 2.2) and scopes (spec 2.3).
import { invalid } from '../document/document.js';
import type { SettingsDocument } from '../document/document.js';
import { readToml } from '../document/toml-file.js';
import { application, name } from '../rules/formats.js';
import { indexed, list, text } from '../rules/rule.js';
import { isTable, keyOf, optional, required, table } from '../rules/table.js';
import type { KeyRemark, ValuesOf } from '../rules/table.js';
import { OF_TARGET, SETTINGS } from './settings.js';

/** Converts a raw value of a file to JSON text for comparisons. Integers of a file are bigints, and become strings. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? String(each) : each));

export const TARGET = {
  app: required(application, 'Application metric set of the target'),
  serverKey: required(name, 'Server key of the publisher'),
  ...OF_TARGET,
};

const scopeName = text(
  /^[A-Za-z0-9._-]{1,256}$/,
  'a string of 1 to 256 letters, digits, ".", "_" and "-"',
);
const pattern = text(
  /^[A-Za-z0-9_:*]{1,256}$/,
  'a string of 1 to 256 letters, digits, "_", ":" and "*"',
);

export const SCOPE = {
  name: required(scopeName, 'Name of the scope in URLs. Each scope needs a different name'),
  metrics: required(
    list(pattern, { min: 1, max: 1024 }),
    'Metric names; * matches any text. A name of a summary or histogram selects all its series',
  ),
};

export type TargetTable = ValuesOf<typeof TARGET> & { readonly index: number };
export type ScopeConfig = ValuesOf<typeof SCOPE>;

const topLevel = new Set(Object.keys(SETTINGS).map(keyOf));

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
  targets: optional([], targetsOf(misplaced), 'The targets of multi-target mode'),
  metricScopes: optional([], scopes, 'Named subsets of the metrics'),
});

/** The legacy target file (spec 2.4). */
export const TARGETS_FILE = table('a table', {
  targets: required(targetsOf(), 'The targets, one per line'),
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
