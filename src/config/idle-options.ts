// Options without effect, because the exporter serves over HTTP or because it does not.
import type { Overrides } from './arguments.js';
import { settingName } from './setting-name.js';
import { SETTINGS } from './settings.js';
import type { Settings } from './settings.js';

const OF_LISTENER = [
  'metricsPort',
  'metricsListenAddresses',
  'metricsSystemdSocket',
  'webConfigFile',
] as const;
const OF_STDOUT = ['stdoutFormat'] as const;

/** One sentence for each option that was given in vain. */
export function idleOptions(overrides: Overrides, settings: Settings): string[] {
  const idle = settings.metricsHttpEnabled ? OF_STDOUT : OF_LISTENER;
  return idle
    .filter((name) => name in overrides)
    .map((name) => `${settingName([SETTINGS[name].key], true)} ${noEffect(settings)}`);
}

/** What a message says of a setting that the output leaves without effect. */
export const noEffect = ({ metricsHttpEnabled }: Settings): string =>
  `has no effect while ${settingName([SETTINGS.metricsHttpEnabled.key])} is ${metricsHttpEnabled}`;
