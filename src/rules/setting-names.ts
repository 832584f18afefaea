// How messages name a setting: with the option that can give its value as well.
import { keyPath } from '../document/document.js';
import type { Path } from '../document/document.js';
import { nameOf } from './command-option.js';
import type { CommandOptions } from './command-option.js';

/** @param isGiven whether the option gave the value; by default no, as for what a file holds */
export type SettingNames = (path: Path, isGiven?: boolean) => string;

/**
 * `metrics_port (--metrics-port)`; the option comes first where it gave the value. What no option
 * overrides is its path alone.
 */
export function settingNames(options: CommandOptions): SettingNames {
  const names = new Map<string | number, string>();
  for (const option of Object.values(options))
    if (option.setting !== undefined) names.set(option.setting, nameOf(option));

  return (path, isGiven = false) => {
    const option = names.get(path[0] ?? '');
    if (option === undefined) return keyPath(path);
    return isGiven ? `${option} (${keyPath(path)})` : `${keyPath(path)} (${option})`;
  };
}
