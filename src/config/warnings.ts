// Warnings about settings that are valid but have no effect.
import type { Path, SettingsDocument } from '../document/document.js';
import type { Arguments, Overrides } from './arguments.js';
import { settingName } from './config-problems.js';
import { NO_DISCOVERY, TARGET } from './file-rule.js';
import type { Discover, TargetsDocument } from './file-rule.js';
import { keyOf } from '../rules/table.js';
import { SETTINGS } from './settings.js';
import { TARGETS_FOLDER } from './targets-folder.js';
import type { Settings } from './settings.js';
import {
  ignoredTargets,
  otherApplications,
  overlappingTargets,
  selectorOf,
} from './targets-file.js';

/** Options that have an effect only if the exporter serves HTTP. */
const OF_LISTENER = [
  'metricsPort',
  'metricsListenAddresses',
  'metricsSystemdSocket',
  'webConfigFile',
  'metricsPath',
  'httpMaxScrapes',
] as const;
/** Options that have an effect only if the exporter prints to stdout. */
const OF_STDOUT = ['stdoutFormat'] as const;

/** A sentence for each given option without effect. */
function idleOptions(overrides: Overrides, settings: Settings): string[] {
  const idle = settings.metricsHttpEnabled ? OF_STDOUT : OF_LISTENER;
  return idle
    .filter((name) => name in overrides)
    .map((name) => `${settingName([keyOf(name)], true)} ${noEffect(settings)}`);
}

/** The clause about a setting that has no effect with the chosen output. */
const noEffect = ({ metricsHttpEnabled }: Settings): string =>
  `has no effect while ${settingName(['metrics_http_enabled'])} is ${metricsHttpEnabled}`;

/** The keys of the single target. Multi-target mode ignores them. */
const SINGLE_TARGET_KEYS = Object.keys(SETTINGS)
  .filter((name) => name in TARGET || name === 'serverKeys')
  .map(keyOf);

interface LoadedConfiguration {
  readonly given: Arguments;
  readonly toml: TargetsDocument;
  /** The targets of the legacy file; undefined if the arguments name no such file. */
  readonly legacy: TargetsDocument | undefined;
  readonly discover: Discover;
  readonly settings: Settings;
  readonly mode: 'single' | 'multi';
  /** Whether there is a folder `targets.d` beside the file. */
  readonly hasFolder: boolean;
}

/** Warnings about settings without effect, and about ambiguous targets. */
export function warningsOf(loaded: LoadedConfiguration): readonly string[] {
  const { given, toml, settings } = loaded;
  const { text, file } = toml.document.places;
  return Object.freeze([
    ...(file !== '' && text.trim() === '' ? [`${file}: is empty, so it sets nothing`] : []),
    ...(loaded.mode === 'single' ? aboutSingle(loaded) : aboutMulti(loaded)),
    ...idleOptions(given.overrides, settings),
    ...(settings.metricsHttpEnabled && settings.textfileDir !== ''
      ? at(
          toml.document,
          ['textfile_dir'],
          `${settingName(['textfile_dir'])} ${noEffect(settings)}`,
        )
      : []),
  ]);
}

function aboutSingle({ given, toml, settings, hasFolder }: LoadedConfiguration): readonly string[] {
  const { document, targets } = toml;
  const { overrides } = given;
  const selector = selectorOf(overrides);
  const ignored = [
    ...at(document, ['discover'], `[discover] is ignored because of ${selector}`),
    ...(hasFolder ? [`${TARGETS_FOLDER} is ignored because of ${selector}`] : []),
  ];
  if (targets.length === 0) return selector === '' ? [] : ignored;
  const isInFile = Object.hasOwn(document.values, 'app');
  const others = otherApplications(overrides, targets, settings);
  return [
    ...ignored,
    ...at(document, ['targets'], ignoredTargets(overrides, isInFile, settings)),
    ...[...others].flatMap(([index, app]) => {
      const sentence = `targets[${index}] has the application ${app}; to select it, add --app ${app}`;
      return at(document, ['targets', index], sentence);
    }),
  ];
}

function aboutMulti({
  given,
  toml,
  legacy,
  discover,
  hasFolder,
}: LoadedConfiguration): readonly string[] {
  const { targetsFile, overrides } = given;
  const { document, targets } = legacy ?? toml;
  const listed = targetsFile === undefined ? '[[targets]]' : `the targets of ${targetsFile}`;
  const unlisted = discover === NO_DISCOVERY ? TARGETS_FOLDER : '[discover]';
  const others = targets.length === 0 ? unlisted : listed;
  const { native, hsperfdata, varnish } = discover;
  const findsNothing = native.length === 0 && !hsperfdata && !varnish;
  return [
    ...(findsNothing
      ? at(
          toml.document,
          ['discover'],
          '[discover] finds nothing: set native, hsperfdata or varnish',
        )
      : []),
    ...(legacy && toml.targets.length > 0
      ? at(toml.document, ['targets'], '[[targets]] are ignored because of --targets-config')
      : []),
    ...(legacy && hasFolder ? [`${TARGETS_FOLDER} is ignored because of --targets-config`] : []),
    ...SINGLE_TARGET_KEYS.flatMap((key) =>
      at(toml.document, [key], `${settingName([key])} is ignored because of ${others}`),
    ),
    ...(overrides.app === undefined
      ? []
      : [`${settingName(['app'], true)} is ignored because of ${others}`]),
    ...overlappingTargets(targets).flatMap(({ index, earlier, sentence }) => {
      const pair = `targets[${index}] has the same server_key and app as targets[${earlier}]`;
      return at(document, ['targets', index], `${pair}: ${sentence}`);
    }),
  ];
}

/** A sentence that begins with the position of a key; empty if the file does not have the key. */
function at({ places }: SettingsDocument, path: Path, sentence: string): readonly string[] {
  const offset = places.offset(path, 'key');
  return offset === undefined ? [] : [`${places.at(offset)}: ${sentence}`];
}

export const isOverridden = (key: string | number | undefined, overrides: Overrides): boolean =>
  Object.keys(overrides).some((name) => keyOf(name) === key);
