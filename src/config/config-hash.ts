// A number by which configurations can be told apart.
import { createHash } from 'node:crypto';
import { jsonOf } from './json-of.js';
import type { Config } from './resolve.js';

/** As many bytes as a double holds exactly. */
const BYTES = 6;

/** The same for the same settings, targets and scopes, wherever their files are. */
export function configHash({ settings, targets, scopes }: Config): number {
  const placeless = targets.map((target) => ({ ...target, path: undefined }));
  const shared = { ...settings, licenseFile: undefined, catalogueFiles: undefined };
  const text = jsonOf([shared, placeless, scopes]);
  return createHash('sha256').update(text).digest().readUIntBE(0, BYTES);
}
