// What in a configuration is valid but has no effect: said once, at the start.
import type { Arguments } from './arguments.js';
import type { Document } from '../document/document.js';
import { TARGET } from './file-rule.js';
import { SETTINGS } from './settings.js';
import type { Settings } from './settings.js';

/** The keys that describe the single target and mean nothing in multi-target mode. */
const SINGLE_TARGET_KEYS = Object.entries(SETTINGS)
  .filter(([name]) => name in TARGET || name === 'serverKeys')
  .map(([, { key }]) => key);

/** Sentences about what is given but not used. */
export function warningsOf(
  { targetsFile, overrides }: Arguments,
  toml: Document,
  settings: Settings,
  mode: 'single' | 'multi',
): readonly string[] {
  const warnings: string[] = [];
  const warnAt = (key: string, sentence: string) => {
    const offset = toml.places.offset([key], 'key');
    if (offset !== undefined) warnings.push(`${toml.places.at(offset)}: ${sentence}`);
  };
  const inToml = toml.values['targets'];
  const hasTargets = Array.isArray(inToml) && inToml.length > 0;

  if (hasTargets && mode === 'single')
    warnAt('targets', `[[targets]] are set aside by ${selectorOf(overrides)}`);
  if (hasTargets && targetsFile !== undefined)
    warnAt('targets', '[[targets]] are set aside by --targets-config');
  if (mode === 'multi') {
    const others = targetsFile === undefined ? '[[targets]]' : `the targets of ${targetsFile}`;
    for (const key of SINGLE_TARGET_KEYS) warnAt(key, `${key} has no effect beside ${others}`);
    if (overrides.app !== undefined) warnings.push(`--app has no effect beside ${others}`);
  }
  if (overrides.metricsPort !== undefined && !settings.metricsHttpEnabled)
    warnings.push('--metrics-port has no effect while metrics_http_enabled is false');
  return Object.freeze(warnings);
}

function selectorOf({ serverKeys, instance }: Arguments['overrides']): string {
  const given = [serverKeys && '--server-key', instance !== undefined && '--instance'];
  return given.filter(Boolean).join(' and ');
}
