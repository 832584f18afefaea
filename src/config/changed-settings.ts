// Compares configurations: finds changed settings that a reload cannot apply, and computes a hash.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { keyOf } from '../rules/table.js';
import { jsonOf } from './file-rule.js';
import type { Config } from './resolve.js';
import { SETTINGS, isReloaded } from './settings.js';
import type { Settings } from './settings.js';

/** The TOML keys of changed settings that need a restart, in the order of the reference page. */
export function changedSettings(before: Settings, after: Settings): string[] {
  const was = new Map(Object.entries(before));
  const is = new Map(Object.entries(after));
  return Object.keys(SETTINGS)
    .filter((name) => !isReloaded(name) && !isDeepStrictEqual(was.get(name), is.get(name)))
    .map(keyOf);
}

/** The size of the hash in bytes. A double holds each integer of 6 bytes exactly. */
const BYTES = 6;

/** A hash of settings, targets and scopes. The paths of the license and of the catalogues do not affect it. */
export function configHash({ settings, targets, scopes }: Config): number {
  const placeless = targets.map((target) => ({ ...target, path: undefined }));
  const shared = { ...settings, licenseFile: undefined, catalogueFiles: undefined };
  const text = jsonOf([shared, placeless, scopes]);
  return createHash('sha256').update(text).digest().readUIntBE(0, BYTES);
}
