// Defaults, then the TOML file, then the command line: one frozen configuration (spec 1.1).
import { dirname, isAbsolute, join } from 'node:path';
import type { Arguments } from './arguments.js';
import { checked } from '../rules/checked.js';
import { invalid, problemAt } from '../document/document.js';
import type { Document, Problem } from '../document/document.js';
import { Fault } from '../errors.js';
import { CONFIG_FILE, TARGETS_FILE } from './file-rule.js';
import type { ScopeConfig, TargetTable } from './file-rule.js';
import type { Path } from '../document/key-path.js';
import { Places } from '../document/places.js';
import { SETTINGS } from './settings.js';
import type { Settings } from './settings.js';
import { readTargetsFile } from './targets-file.js';
import { readToml } from '../document/toml-file.js';
import { warningsOf } from './warnings.js';

/** One target to export. Empty texts and lists stand for what is not given. */
export interface TargetConfig {
  readonly app: string;
  /** The server keys that are searched for the root, in order of preference. */
  readonly serverKeys: readonly string[];
  readonly instance: string;
  readonly variable: string;
  readonly classes: readonly string[];
  readonly seedPathGroups: readonly string[];
  readonly seedPaths: readonly string[];
  readonly publisherTimeZone: string;
  /** Where its keys are: empty in single-target mode, else `['targets', index]`. */
  readonly path: Path;
}

export interface Config {
  readonly settings: Settings;
  readonly mode: 'single' | 'multi';
  /** Exactly one in single-target mode, at least one in multi-target mode. */
  readonly targets: readonly TargetConfig[];
  readonly scopes: readonly ScopeConfig[];
  /** What was given and has no effect, a sentence each. */
  readonly warnings: readonly string[];
  /** `file:line:column` of a value (or what is around it), or '' for what no file says. */
  at(path: Path): string;
  /** The fault that tells of values that only others can judge, in the order of their files. */
  invalid(complaints: readonly Complaint[]): Fault;
}

/** What is wrong with the value at a path. */
export interface Complaint {
  readonly path: Path;
  readonly sentence: string;
}

const NO_FILE: Document = { values: {}, places: new Places('', '', () => new Map()) };

/**
 * Reads the files that the arguments name and puts everything together.
 * @throws Fault CONFIG_INVALID that tells everything that is wrong with a file
 */
export function loadConfig(given: Arguments): Config {
  const { configFile, targetsFile, overrides } = given;
  const toml = configFile === undefined ? NO_FILE : readToml(configFile);
  const { targets: inToml, metricScopes: scopes, ...inFile } = checked(toml, CONFIG_FILE);
  const legacy = targetsFile === undefined ? undefined : readTargetsFile(targetsFile);
  const inLegacy = legacy ? checked(legacy, TARGETS_FILE).targets : undefined;
  const listed = inLegacy ?? inToml;

  const settings: Settings = Object.freeze({
    ...inFile,
    ...besideFile(configFile ?? '', inFile),
    ...overrides,
  });
  const documentOf = (path: Path) => (path[0] === 'targets' && legacy ? legacy : toml);
  const selectsOne = overrides.serverKeys !== undefined || overrides.instance !== undefined;
  const mode = selectsOne || listed.length === 0 ? 'single' : 'multi';
  const targets = mode === 'single' ? [singleTarget(settings)] : listed.map(multiTarget);

  return Object.freeze({
    settings,
    mode,
    targets: Object.freeze(targets),
    scopes,
    warnings: warningsOf({
      given,
      toml: { document: toml, targets: inToml },
      legacy: legacy && inLegacy && { document: legacy, targets: inLegacy },
      settings,
      mode,
    }),
    at: (path: Path) => placeOf(path, documentOf(path), overrides),
    invalid: (complaints: readonly Complaint[]) => faultOf(complaints, documentOf),
  });
}

/** The path settings, seen from the folder of the file that names them. */
function besideFile(file: string, { licenseFile, catalogueFiles }: Settings) {
  const beside = (path: string) => (isAbsolute(path) ? path : join(dirname(file), path));
  return {
    licenseFile: licenseFile && beside(licenseFile),
    catalogueFiles: Object.freeze(catalogueFiles.map(beside)),
  };
}

function singleTarget(settings: Settings): TargetConfig {
  const { app, serverKeys, instance, variable, classes, seedPathGroups, seedPaths } = settings;
  const { publisherTimeZone } = settings;
  const target = { app, serverKeys, instance, variable, classes, seedPathGroups, seedPaths };
  return Object.freeze({ ...target, publisherTimeZone, path: Object.freeze([]) });
}

function multiTarget({ serverKey, ...target }: TargetTable, index: number): TargetConfig {
  const path = Object.freeze(['targets', index]);
  return Object.freeze({ ...target, serverKeys: Object.freeze([serverKey]), path });
}

function faultOf(complaints: readonly Complaint[], documentOf: (path: Path) => Document): Fault {
  const byDocument = new Map<Document, Problem[]>();
  for (const { path, sentence } of complaints) {
    const document = documentOf(path);
    const problems = byDocument.get(document) ?? [];
    problems.push(problemAt(document.places, path, sentence));
    byDocument.set(document, problems);
  }
  const messages = [...byDocument].map(
    ([{ places }, problems]) => invalid(places, problems).message,
  );
  return new Fault('CONFIG_INVALID', messages.join('\n'));
}

function placeOf(path: Path, { places }: Document, overrides: Arguments['overrides']): string {
  const overridden = Object.entries(SETTINGS).some(
    ([name, { key }]) => key === path[0] && name in overrides,
  );
  const offset = overridden ? undefined : places.offset(path, 'value');
  return offset === undefined ? '' : places.at(offset);
}
