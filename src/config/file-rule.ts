// The rule of the configuration file: settings, targets (spec 2.2) and scopes (spec 2.3).
import { invalid } from '../document/document.js';
import type { SettingsDocument } from '../document/document.js';
import { readToml } from '../document/toml-file.js';
import { application, name, namePattern } from '../rules/formats.js';
import { flag, indexed, integer, list, refined, text } from '../rules/rule.js';
import { defaultsOf, isTable, keyOf, optional, required, table } from '../rules/table.js';
import type { KeyRemark, ValuesOf } from '../rules/table.js';
import { keyPattern } from './key-labels.js';
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

const labelName = text(
  /^$|^(?!le$|quantile$|__)[A-Za-z_][A-Za-z0-9_]{0,63}$/,
  'a label name of at most 64 letters, digits and "_", not "le", "quantile" or with "__" at its start; or ""',
);

/** The keys of the table `[host_page]`. */
export const HOST_PAGE = {
  enabled: optional(
    false,
    flag,
    'Serves the metrics of all targets at /-/all, and at metrics_path for requests without routing parameters. [discover] implies it',
  ),
  appLabel: optional(
    'app',
    labelName,
    'Label with the application of the target. An empty string adds no label',
  ),
  serverKeyLabel: optional('server_key', labelName, 'Label with the server key'),
  rootLabel: optional('root', labelName, 'Label with the id of the root'),
};

export type HostPage = ValuesOf<typeof HOST_PAGE>;

/** The keys of the table `[discover]`. */
export const DISCOVER = {
  native: optional(
    [],
    list(namePattern, { max: 256, different: { by: String } }),
    'Server keys of segments in this context and pool; * matches any text, ? any character. Each root in these segments is a target',
  ),
  hsperfdata: optional(
    false,
    flag,
    'Shows the JVMs of this host as a target with the server key jvm',
  ),
  varnish: optional(false, flag, 'Shows each Varnish instance below /var/lib/varnish as a target'),
  labelsFrom: optional(
    '',
    keyPattern,
    'Labels of discovered targets from their server keys, as a pattern such as "shop-{store}". Targets whose keys do not match have no such labels',
  ),
  forgetAfterSeconds: optional(
    30,
    integer(5, 86_400),
    'Seconds after which a discovered target is removed, if its publisher has ended. Above 60, the alert on dead publishers fires first',
  ),
  maxTargets: optional(
    256,
    integer(1, 1024),
    'Maximum number of discovered targets. Further ones are left out, counted and logged',
  ),
};

export type Discover = ValuesOf<typeof DISCOVER>;
export type TargetTable = ValuesOf<typeof TARGET> & { readonly index: number };
/** The targets of a file. */
export interface TargetsDocument {
  readonly document: SettingsDocument;
  readonly targets: readonly TargetTable[];
}
export type ScopeConfig = ValuesOf<typeof SCOPE>;

const topLevel = new Set(Object.keys(SETTINGS).map(keyOf));

/** The remark on a top-level setting that stands below a table header: TOML reads it as a key of that table. */
const misplaced: KeyRemark = (key) =>
  topLevel.has(key)
    ? ' in a table; it is a top-level setting, so put it above the first table'
    : '';

/** The maximum number of configured targets. */
export const MAX_TARGETS = 1024;

const targetsOf = (remarkOn?: KeyRemark) =>
  list(indexed(table('a [[targets]] table', TARGET, remarkOn)), {
    max: MAX_TARGETS,
    different: { by: (target) => jsonOf({ ...target, index: 0 }) },
  });
const scopes = list(table('a [[metric_scopes]] table', SCOPE, misplaced), {
  max: 256,
  different: { by: (scope) => scope.name, at: 'name' },
});

const discover = table('a [discover] table', DISCOVER, misplaced);
/** The values of `[discover]` in a file without that table: they find nothing. */
export const NO_DISCOVERY = defaultsOf(DISCOVER);

const hostPage = refined(
  table('a [host_page] table', HOST_PAGE, misplaced),
  (page, path, report) => {
    const names = [page.appLabel, page.serverKeyLabel, page.rootLabel].filter(
      (name) => name !== '',
    );
    if (new Set(names).size < names.length)
      report(path, 'two labels have the same name, allowed: a different name for each label');
  },
);

export const CONFIG_FILE = table('a table', {
  ...SETTINGS,
  targets: optional([], targetsOf(misplaced), 'The targets of multi-target mode'),
  discover: optional(NO_DISCOVERY, discover, 'Targets that the exporter finds itself'),
  hostPage: optional(defaultsOf(HOST_PAGE), hostPage, 'The page with the metrics of all targets'),
  metricScopes: optional([], scopes, 'Named subsets of the metrics'),
});

/** A file of the folder `targets.d`. */
export const TARGET_FILE = table(
  'a table',
  { targets: optional([], targetsOf(), 'Further targets') },
  () => ', allowed: only [[targets]]; other keys belong in the file of --config',
);

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
