// Warnings about settings that are valid but have no effect.
import type { Path, SettingsDocument } from '../document/document.js';
import type { Arguments, Overrides } from './arguments.js';
import { settingName } from './config-problems.js';
import { TARGET } from './file-rule.js';
import type { TargetTable } from './file-rule.js';
import { SETTINGS } from './settings.js';
import type { Settings } from './settings.js';
import { otherApplications, setAside, twinTargets } from './targets-file.js';

// Options without effect, because the exporter serves over HTTP or because it does not.
const OF_LISTENER = [
  'metricsPort',
  'metricsListenAddresses',
  'metricsSystemdSocket',
  'webConfigFile',
] as const;
const OF_STDOUT = ['stdoutFormat'] as const;

/** One sentence for each option that was given in vain. */
function idleOptions(overrides: Overrides, settings: Settings): string[] {
  const idle = settings.metricsHttpEnabled ? OF_STDOUT : OF_LISTENER;
  return idle
    .filter((name) => name in overrides)
    .map((name) => `${settingName([SETTINGS[name].key], true)} ${noEffect(settings)}`);
}

/** What a message says of a setting that the output leaves without effect. */
const noEffect = ({ metricsHttpEnabled }: Settings): string =>
  `has no effect while ${settingName([SETTINGS.metricsHttpEnabled.key])} is ${metricsHttpEnabled}`;

/** The keys of the single target, ignored in multi-target mode. */
const SINGLE_TARGET_KEYS = Object.entries(SETTINGS)
  .filter(([name]) => name in TARGET || name === 'serverKeys')
  .map(([, { key }]) => key);

/** A file with targets, and the targets. */
export interface TargetsDocument {
  readonly document: SettingsDocument;
  readonly targets: readonly TargetTable[];
}

interface LoadedConfiguration {
  readonly given: Arguments;
  readonly toml: TargetsDocument;
  /** Of the legacy target file, where one is given. */
  readonly legacy: TargetsDocument | undefined;
  readonly settings: Settings;
  readonly mode: 'single' | 'multi';
}

/** Warnings about settings that are unused, or used in a surprising way. */
export function warningsOf(loaded: LoadedConfiguration): readonly string[] {
  const { given, toml, settings } = loaded;
  const { text, file } = toml.document.places;
  return Object.freeze([
    ...(file !== '' && text.trim() === '' ? [`${file}: is empty, so it changes nothing`] : []),
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

function aboutSingle({ given, toml, settings }: LoadedConfiguration): readonly string[] {
  const { document, targets } = toml;
  if (targets.length === 0) return [];
  const { overrides } = given;
  const isInFile = Object.hasOwn(document.values, SETTINGS.app.key);
  const others = otherApplications(overrides, targets, settings);
  return [
    ...at(document, ['targets'], setAside(overrides, isInFile, settings)),
    ...[...others].flatMap(([index, app]) => {
      const sentence = `targets[${index}] has the application ${app}; to select it, add --app ${app}`;
      return at(document, ['targets', index], sentence);
    }),
  ];
}

function aboutMulti({ given, toml, legacy }: LoadedConfiguration): readonly string[] {
  const { targetsFile, overrides } = given;
  const others = targetsFile === undefined ? '[[targets]]' : `the targets of ${targetsFile}`;
  const { document, targets } = legacy ?? toml;
  return [
    ...(legacy && toml.targets.length > 0
      ? at(toml.document, ['targets'], '[[targets]] are ignored because of --targets-config')
      : []),
    ...SINGLE_TARGET_KEYS.flatMap((key) =>
      at(toml.document, [key], `${settingName([key])} has no effect beside ${others}`),
    ),
    ...(overrides.app === undefined
      ? []
      : [`${settingName(['app'], true)} has no effect beside ${others}`]),
    ...twinTargets(targets).flatMap(({ index, earlier, sentence }) => {
      const pair = `targets[${index}] has the server_key and app of targets[${earlier}]`;
      return at(document, ['targets', index], `${pair}: ${sentence}`);
    }),
  ];
}

/** The sentence with its position; empty if the file has no such key. */
function at({ places }: SettingsDocument, path: Path, sentence: string): readonly string[] {
  const offset = places.offset(path, 'key');
  return offset === undefined ? [] : [`${places.at(offset)}: ${sentence}`];
}

/** Whether an option gave the value of a top-level key. */
export const isOverridden = (key: string | number | undefined, overrides: Overrides): boolean =>
  Object.entries(SETTINGS).some(([name, field]) => field.key === key && name in overrides);
