// Plans the targets of a configuration: finds their catalogues and checks their definitions.
import { loadCatalogues } from '../catalogue/builtin.js';
import type { Catalogue, CatalogueText } from '../catalogue/catalogue.js';
import type { CatalogueClass } from '../catalogue/catalogue-class.js';
import { compileFilters, compilePathLabels } from '../catalogue/match/filters.js';
import { ConfigProblems } from '../config/config-problems.js';
import type { Config, TargetConfig } from '../config/resolve.js';
import { NO_DISCOVERY } from '../config/file-rule.js';
import type { HostPage } from '../config/file-rule.js';
import { compileKeyLabels } from '../config/key-labels.js';
import { OF_TARGET, targetSettings } from '../config/settings.js';
import type { Settings, TargetSettings } from '../config/settings.js';
import { quoted } from '../document/document.js';
import { hint } from '../document/nearest.js';
import { readText } from '../document/text-file.js';
import { Fault } from '../errors.js';
import type { FoundRoot, Target } from '../model.js';
import type { ReportProblem } from '../rules/rule.js';
import { defaultsOf } from '../rules/table.js';
import type { FormatSettings } from '../streams/poller-pool.js';
import { FORMATS } from '../targets/formats.js';
import type { TargetDefinition, TargetLabelNames } from '../targets/formats.js';
import type { DiscoveredTarget } from './discovery.js';

export interface PlannedTarget {
  /** Undefined if the application has no catalogue. */
  readonly catalogue: Catalogue | undefined;
  readonly definition: TargetDefinition;
  /** Warnings about valid settings that are probably not intended, one sentence each. */
  readonly warnings: readonly string[];
}

/** The planned targets, in the order of the configuration. */
export type Plan = readonly PlannedTarget[];

/** The catalogue classes that the definition of a target selects; empty if the target has no catalogue. */
export const selectedClasses = ({
  catalogue,
  definition: { classes },
}: PlannedTarget): readonly CatalogueClass[] =>
  (catalogue?.classes ?? []).filter(({ alias }) => classes.length === 0 || classes.includes(alias));

/** A checked configuration with the plan of its targets. */
export interface Planned {
  readonly config: Config;
  readonly plan: Plan;
  /** The faults of the files of `targets.d` that are left out, by file name. */
  readonly leftOut: ReadonlyMap<string, Fault>;
  /** Warnings about the configuration as a whole. */
  readonly warnings: readonly string[];
}

/**
 * Plans the targets. Checks their applications, classes, groups, formats and catalogue files.
 * @param problems collects all problems
 * @throws Fault CONFIG_INVALID with all problems if `problems` is not given
 */
export function planTargets(config: Config, problems?: ConfigProblems): Plan {
  const all = problems ?? new ConfigProblems();
  const plan = planned(config, all);
  if (problems === undefined) all.throwIfAny();
  return plan;
}

function planned(config: Config, problems: ConfigProblems): Plan {
  const report: ReportProblem = (path, sentence, mark) => {
    const { document, path: inside } = config.located(path);
    problems.of(document).add(inside, sentence, mark);
  };
  const faults: Fault[] = [];
  const { texts, areComplete } = readTexts(config, problems);
  const catalogues = loadCatalogues(texts, (fault) => faults.push(fault));
  // An invalid catalogue file may belong to an application that now seems to have no catalogue.
  const areAllKnown = areComplete && faults.length === 0 && config.isSound('catalogue_files');

  const plan = config.targets.map((target) => {
    const { path, ...own } = target;
    const catalogue = catalogues.get(target.app);
    const formatSettings = {
      ...formatSettingsOf(target, report),
      ...FORMATS.get(target.format)?.ofTarget(target.app, catalogue),
    };
    const apps = [...catalogues.keys(), ...FORMAT_BY_APP.keys()];
    const guess = apps.includes(target.app) ? '' : hint(target.app, apps);
    // Do not check a default that replaces an invalid value: the user did not mean it.
    const isGiven = path.length > 0 || (config.isSound('app') && config.isSound('format'));
    const mismatch = isGiven ? mismatchOf(target) : undefined;
    // The user's own catalogue may describe another program that publishes under the same application.
    const isOwn = catalogue !== undefined && texts.includes(catalogue.source);
    if (mismatch !== undefined && !(isOwn && target.format === 'native')) {
      const at = [...path, mismatch.key];
      if (config.at(at) !== '') report(at, mismatch.sentence);
      // The argument of an option. Only a file can set the format, so the message mentions the file.
      else
        problems.note(
          new Fault(
            'CONFIG_INVALID',
            `${config.subject(at)}: ${mismatch.sentence} in the file of --config`,
          ),
        );
    }
    // Do not check classes against the default that replaces an invalid application.
    const isMeant = path.length > 0 || config.isSound('app');
    compilePathLabels(target.pathLabels, (inside, sentence) => {
      report([...path, ...inside], sentence);
    });
    compileFilters(catalogue, target, (inside, sentence) => {
      if (!isMeant || (catalogue === undefined && !areAllKnown)) return;
      report([...path, ...inside], `${sentence}${guess}`);
    });
    const warnings = [
      ...(mismatch === undefined
        ? []
        : [`${config.subject([...path, mismatch.key])}: ${mismatch.sentence}`]),
      ...(guess === '' ? [] : [nearMiss(config, target, guess)]),
      ...(catalogue === undefined ? [] : ineffectiveLabels(config, target)),
    ];
    const isDebug = config.settings.debug;
    const flags = { targetLabels: undefined, keyLabels: {}, isDiscovered: false, isDebug };
    return {
      catalogue,
      definition: definitionOf(own, formatSettings, catalogue, flags),
      warnings,
    };
  });
  for (const fault of faults) problems.note(fault);
  return plan;
}

const definitionOf = (
  settings: TargetSettings,
  formatSettings: FormatSettings,
  catalogue: Catalogue | undefined,
  flags: Pick<TargetDefinition, 'targetLabels' | 'keyLabels' | 'isDiscovered' | 'isDebug'>,
): TargetDefinition => ({ ...settings, formatSettings, catalogue: catalogue?.source, ...flags });

/** The labels on the series of targets. Only documents with the metrics of several targets need them. */
export function targetLabels(
  hostPage: HostPage,
  settings: Pick<Settings, 'metricsHttpEnabled' | 'stdoutFormat' | 'textfileDir'>,
): TargetLabelNames | undefined {
  const { metricsHttpEnabled, stdoutFormat, textfileDir } = settings;
  const isJoined = metricsHttpEnabled
    ? hostPage.enabled
    : stdoutFormat === 'merged' || textfileDir !== '';
  const { appLabel: app, serverKeyLabel: serverKey, rootLabel: root } = hostPage;
  return isJoined ? { app, serverKey, root } : undefined;
}

/** Makes a function that plans discovered targets. They have the defaults of the keys of `[[targets]]`. */
export function discoveryPlanner(config: Config): (found: DiscoveredTarget) => PlannedTarget {
  const { settings } = config;
  const labelsOf = compileKeyLabels(config.discover.labelsFrom);
  // Read the catalogues now: later, their files may have changed.
  const catalogues =
    config.discover === NO_DISCOVERY
      ? undefined
      : loadCatalogues(readTexts(config, new ConfigProblems()).texts, () => undefined);
  return ({ format, app, serverKey, instance }) => {
    const catalogue = catalogues?.get(app);
    const own = { ...targetSettings(settings), ...defaultsOf(OF_TARGET), app, format, instance };
    const known = FORMATS.get(format);
    const formatSettings = {
      ...defaultsOf(known?.settings ?? {}),
      ...known?.ofTarget(app, catalogue),
    };
    const serverKeys = Object.freeze([serverKey]);
    const isDebug = settings.debug;
    const keyLabels = labelsOf(serverKey);
    const flags = { targetLabels: undefined, keyLabels, isDiscovered: true, isDebug };
    const definition = definitionOf({ ...own, serverKeys }, formatSettings, catalogue, flags);
    return { catalogue, definition, warnings: [] };
  };
}

/** The part of a target that says which root it shows. */
export interface RootedTarget extends Pick<
  Target,
  'app' | 'serverKeys' | 'instance' | 'isDiscovered'
> {
  readonly format: Pick<Target['format'], 'name'>;
  readonly lastRoot: Pick<FoundRoot, 'id'> | undefined;
}

/**
 * Whether a configured target shows a discovered root, or may choose it: it has the same application and server key,
 * its hint fits, and it has not chosen another root. Every hsperfdata target shows the same JVMs, whatever its key.
 * @param targets the current targets of the exporter
 */
export const isConfigured = (
  plan: Plan,
  targets: readonly RootedTarget[],
  { format, app, serverKey, instance }: DiscoveredTarget,
): boolean =>
  plan.some(
    ({ definition }) =>
      definition.format === format &&
      definition.app === app &&
      (definition.serverKeys.includes(serverKey) || format === 'hsperfdata') &&
      ['', instance, instance.split('.').at(-2)].includes(definition.instance) &&
      !targets.some((target) => isTargetOf(target, definition) && showsAnother(target, instance)),
  );

const isTargetOf = (
  { app, serverKeys, instance, format, isDiscovered }: RootedTarget,
  definition: TargetDefinition,
): boolean =>
  !isDiscovered &&
  format.name === definition.format &&
  app === definition.app &&
  instance === definition.instance &&
  serverKeys.join() === definition.serverKeys.join();

/** Whether a target has chosen another root than that of a discovered target. */
const showsAnother = ({ lastRoot }: RootedTarget, root: string): boolean =>
  root !== '' && lastRoot !== undefined && lastRoot.id !== root;

/** Maps an application to its format, for formats with roots of only one application. */
const FORMAT_BY_APP = new Map(
  [...FORMATS].flatMap(([format, { app }]) => (app === undefined ? [] : [[app, format] as const])),
);

/** The problem if the target's format cannot have roots of its application; undefined if it can. */
function mismatchOf({ app, format }: TargetConfig) {
  const known = FORMATS.get(format);
  const needed = FORMAT_BY_APP.get(app);
  // `formatSettingsOf` reports an unknown format.
  if (known === undefined || (known.app === undefined ? needed === undefined : known.app === app))
    return undefined;
  const allowed = [
    ...(needed === undefined ? [] : [`format = "${needed}"`]),
    ...(known.app === undefined ? [] : [`app = "${known.app}"`]),
  ].join(' or ');
  return known.app === undefined
    ? {
        key: 'app',
        sentence: `found ${quoted(app)} with the format ${format}, allowed: ${allowed}`,
      }
    : {
        key: 'format',
        sentence: `found ${quoted(format)} with the app ${app}, allowed: ${allowed}`,
      };
}

/** The settings of the target's format; empty if they or the format are invalid. */
function formatSettingsOf(
  { format, formatSettings, path }: TargetConfig,
  report: ReportProblem,
): FormatSettings {
  const known = FORMATS.get(format);
  if (known === undefined) {
    const names = [...FORMATS.keys()];
    const allowed = names.join(' or ');
    const sentence = `found ${quoted(format)}${hint(format, names)}, allowed: ${allowed}`;
    report([...path, 'format'], sentence);
    return {};
  }
  const at = [...path, 'format_settings'];
  if (Object.keys(known.settings).length > 0)
    return known.rule.read(formatSettings, at, report) ?? {};
  if (Object.keys(formatSettings).length > 0)
    report(at, `the format ${format} has no settings`, 'key');
  return {};
}

/** Reads the configured catalogue files. A file that cannot be read is a problem. */
function readTexts(config: Config, problems: ConfigProblems) {
  const texts = config.settings.catalogueFiles.map((file, index): CatalogueText | undefined => {
    const path = ['catalogue_files', index];
    const inFile = problems.of(config.located(path).document);
    return inFile.catch(path, () => ({ file, text: readText(file) }));
  });
  const read = texts.filter((each) => each !== undefined);
  return { texts: read, areComplete: read.length === texts.length };
}

/** The warning about an application without a catalogue, whose name resembles the name of a known application. */
function nearMiss(config: Config, { app, path }: TargetConfig, guess: string): string {
  const subject = config.subject([...path, 'app']);
  return `${subject}: ${app} has no catalogue${guess}, so the exporter derives its metrics from the published variables`;
}

/** The warning about path labels without effect, since the rows of a catalogue define their own labels. */
function ineffectiveLabels(
  config: Config,
  { app, pathLabels, showUncatalogued, path }: TargetConfig,
): readonly string[] {
  if (pathLabels.length === 0 || showUncatalogued) return [];
  const subject = config.subject([...path, 'path_labels']);
  return [
    `${subject}: has no effect while show_uncatalogued is false, since ${app} has a catalogue`,
  ];
}
