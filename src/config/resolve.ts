// Merges defaults, the TOML file and the command line into one frozen configuration (spec 1.1).
import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join } from 'node:path';
import type { Arguments, Overrides } from './arguments.js';
import { ConfigProblems, settingName } from './config-problems.js';
import {
  CONFIG_FILE,
  NO_DISCOVERY,
  TARGETS_FILE,
  jsonOf,
  readConfigurationFile,
} from './file-rule.js';
import { checked } from '../rules/problems.js';
import type { Path, SettingsDocument } from '../document/document.js';
import type { Discover, HostPage, ScopeConfig, TargetTable, TargetsDocument } from './file-rule.js';
import { SourcePositions, quoted } from '../document/document.js';
import { keyLabelNames } from './key-labels.js';
import { isOverridden, warningsOf } from './warnings.js';
import { resolvePaths, targetSettings } from './settings.js';
import type { Settings, TargetSettings } from './settings.js';
import { readTargetsFile } from './targets-file.js';
import { NO_FOLDER, hasTargetsFolder, readTargetsFolder } from './targets-folder.js';

/**
 * One target to export. A setting that is not in the target's table has the value of the top-level key of the same
 * name, or else the default.
 */
export interface TargetConfig extends TargetSettings {
  /**
   * The path of the target's keys: empty in single-target mode, else `['targets', index]`. In a file of `targets.d`,
   * the name of the file comes first.
   */
  readonly path: Path;
}

export interface Config {
  readonly settings: Settings;
  readonly mode: 'single' | 'multi';
  /** Exactly one target in single-target mode; at least one in multi-target mode, unless targets are discovered. */
  readonly targets: readonly TargetConfig[];
  readonly scopes: readonly ScopeConfig[];
  /** Which targets to discover; none in single-target mode. */
  readonly discover: Discover;
  /** The page of all targets. `[discover]` enables it. */
  readonly hostPage: HostPage;
  /** Settings and options without effect, one sentence each. */
  readonly warnings: readonly string[];
  /** `file:line:column` of a value, or of its nearest parent; empty for a value that is in no file. */
  at(path: Path): string;
  /** The name of a value in messages, with its option. The option comes first if the command line gave the value. */
  readonly nameOf: (path: Path) => string;
  /** The start of a message about a value: its position in a file, and its name. */
  readonly subject: (path: Path) => string;
  /** The file of a value, and the path of the value in it. */
  readonly located: (path: Path) => LocatedPath;
  /** Whether the value of a top-level key is valid; false if the file cannot be read. */
  isSound(key: string): boolean;
}

interface LocatedPath {
  readonly document: SettingsDocument;
  readonly path: Path;
}

const NO_FILE: SettingsDocument = {
  values: {},
  places: new SourcePositions('', '', () => new Map()),
};
const DEFAULTS = checked(NO_FILE, CONFIG_FILE);

/**
 * Reads the files of the arguments and merges all settings.
 * @param problems collects all problems, so that the caller can go on to check the valid part
 * @throws Fault CONFIG_INVALID with all problems if `problems` is not given
 */
export function loadConfig(given: Arguments, problems?: ConfigProblems): Config {
  const all = problems ?? new ConfigProblems();
  const config = resolved(given, all);
  if (problems === undefined) all.throwIfAny();
  return config;
}

function resolved(given: Arguments, problems: ConfigProblems): Config {
  const { configFile, targetsFile, overrides } = given;
  const inConfig =
    configFile === undefined ? NO_FILE : problems.attempt(() => readConfigurationFile(configFile));
  const toml = inConfig ?? NO_FILE;
  const values = problems.of(toml).read(toml, CONFIG_FILE) ?? DEFAULTS;
  const { targets: inToml, metricScopes: scopes, discover, hostPage, ...inFile } = values;
  const ofHostPage = [hostPage.appLabel, hostPage.serverKeyLabel, hostPage.rootLabel];
  const taken = keyLabelNames(discover.labelsFrom).find((name) => ofHostPage.includes(name));
  if (taken !== undefined) {
    const sentence = `found the label ${quoted(taken)}, which [host_page] gives all targets, allowed: another name`;
    problems.of(toml).add(['discover', 'labels_from'], sentence);
  }
  const legacy = targetsFile === undefined ? undefined : legacyTargets(targetsFile, problems);
  const listed = legacy?.targets ?? inToml;
  const selectsOne = overrides.serverKeys !== undefined || overrides.instance !== undefined;
  const hasFolder = configFile !== undefined && hasTargetsFolder(configFile);
  const folder =
    hasFolder && !selectsOne && targetsFile === undefined
      ? readTargetsFolder(configFile, problems)
      : NO_FOLDER;

  const settings = withDebug({
    ...resolvePaths(inFile, (path) =>
      isAbsolute(path) ? path : join(dirname(configFile ?? ''), path),
    ),
    ...overrides,
  });
  const located = (path: Path): LocatedPath => {
    const file = folder.files.get(String(path[0]));
    if (file !== undefined) return { document: file.document, path: path.slice(1) };
    return { document: path[0] === 'targets' && legacy ? legacy.document : toml, path };
  };
  const at = (path: Path) => placeOf(located(path), overrides);
  const nameOf = (path: Path) => {
    const inside = located(path).path;
    return settingName(inside, isOverridden(inside[0], overrides));
  };
  const isAlone = listed.length === 0 && discover === NO_DISCOVERY && !folder.exists;
  const mode = selectsOne || isAlone ? 'single' : 'multi';
  const isDiscovering = mode === 'multi' && discover !== NO_DISCOVERY;
  const shared = targetSettings(settings);
  const targets =
    mode === 'single'
      ? [Object.freeze({ ...shared, path: Object.freeze([]) })]
      : [
          ...listed.map((target) => multiTarget(target, shared)),
          ...[...folder.files].flatMap(([name, file]) =>
            file.targets.map((target) => multiTarget(target, shared, [name])),
          ),
        ];

  return Object.freeze({
    settings,
    mode,
    targets: Object.freeze(targets),
    scopes,
    discover: isDiscovering ? discover : NO_DISCOVERY,
    hostPage: Object.freeze({ ...hostPage, enabled: hostPage.enabled || isDiscovering }),
    warnings: warningsOf({
      given,
      toml: { document: toml, targets: inToml },
      discover,
      legacy,
      settings,
      mode,
      hasFolder,
    }),
    at,
    nameOf,
    subject: (path: Path) => [at(path), nameOf(path)].filter((part) => part !== '').join(': '),
    located,
    isSound: (key: string) =>
      isOverridden(key, overrides) || (inConfig !== undefined && !problems.of(toml).concern(key)),
  });
}

/** Reads the targets of a legacy file; undefined if it cannot be read. */
function legacyTargets(file: string, problems: ConfigProblems): TargetsDocument | undefined {
  const document = problems.attempt(() => readTargetsFile(file, (each) => problems.of(each)));
  if (document === undefined) return undefined;
  const values = problems.of(document).read(document, TARGETS_FILE);
  return { document, targets: values?.targets ?? [] };
}

/** Sets both `debug` and `logLevel` if either of them enables diagnostics. */
const withDebug = (settings: Settings): Settings => {
  const debug = settings.debug || settings.logLevel === 'debug';
  return Object.freeze({ ...settings, debug, ...(debug && { logLevel: 'debug' as const }) });
};

function multiTarget(
  { serverKey, index, ...own }: TargetTable,
  settings: TargetSettings,
  file: Path = [],
): TargetConfig {
  const path = Object.freeze([...file, 'targets', index]);
  return Object.freeze({ ...settings, ...own, serverKeys: Object.freeze([serverKey]), path });
}

function placeOf({ path, document }: LocatedPath, overrides: Overrides): string {
  const { places } = document;
  const offset = isOverridden(path[0], overrides) ? undefined : places.offset(path, 'value');
  return offset === undefined ? '' : places.at(offset);
}

/** The size of the hash in bytes. A double holds each integer of 6 bytes exactly. */
const BYTES = 6;

/** A hash of the configuration. The paths of the license and of the catalogues do not affect it. */
export function configHash({ settings, targets, scopes, discover, hostPage }: Config): number {
  const placeless = targets.map((target) => ({ ...target, path: undefined }));
  const shared = { ...settings, licenseFile: undefined, catalogueFiles: undefined };
  const text = jsonOf([shared, placeless, scopes, discover, hostPage]);
  return createHash('sha256').update(text).digest().readUIntBE(0, BYTES);
}
