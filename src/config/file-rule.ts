// The whole configuration file: the settings, the targets (spec 2.2) and the scopes (spec 2.3).
import { formatSettings } from './format-settings.js';
import { jsonOf } from './json-of.js';
import { application, line, name, words } from '../rules/formats.js';
import { flag, indexed, list, text } from '../rules/rule.js';
import { SETTINGS } from './settings.js';
import { optional, required, table } from '../rules/table.js';
import type { Elsewhere, ValuesOf } from '../rules/table.js';
import { timeZone } from '../rules/time-zone.js';

/** The keys of a `[[targets]]` table. */
export const TARGET = {
  app: required('app', application, 'Application metric set of the target'),
  serverKey: required('server_key', name, 'Server key of the publisher'),
  format: optional('format', 'native', name, SETTINGS.format.meaning),
  formatSettings: optional(
    'format_settings',
    {},
    formatSettings,
    'Settings that the format of the target has of its own',
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
  name: required('name', scopeName, 'Name of the scope in URLs; no two scopes share one'),
  metrics: required(
    'metrics',
    list(pattern, { min: 1, max: 1024 }),
    'Metric names; * stands for any text; the name of a summary or histogram selects all its series',
  ),
};

export type TargetTable = ValuesOf<typeof TARGET> & { readonly index: number };
export type ScopeConfig = ValuesOf<typeof SCOPE>;

const topLevel = new Set(Object.values(SETTINGS).map(({ key }) => key));

/** In TOML, a setting that follows a table is a key of that table. */
const misplaced: Elsewhere = (key) =>
  topLevel.has(key) ? ' in a table, but one of the top level: put it above the first table' : '';

const targetsOf = (elsewhere?: Elsewhere) =>
  list(indexed(table('a [[targets]] table', TARGET, elsewhere)), {
    max: 1024,
    different: { by: (target) => jsonOf({ ...target, index: 0 }) },
  });
const scopes = list(table('a [[metric_scopes]] table', SCOPE, misplaced), {
  max: 256,
  different: { by: (scope) => scope.name, at: 'name' },
});

/** A configuration file in TOML. */
export const CONFIG_FILE = table('a table', {
  ...SETTINGS,
  targets: optional('targets', [], targetsOf(misplaced), 'The targets of multi-target mode'),
  metricScopes: optional('metric_scopes', [], scopes, 'Named subsets of the metrics'),
});

/** A legacy target file (spec 2.4). */
export const TARGETS_FILE = table('a table', {
  targets: required('targets', targetsOf(), 'The targets, one per line'),
});
