// Where a license comes from, as a refused start says it.
import { EVALUATION_KEY_ID } from './trusted-keys.js';
import type { TrustedKeys } from './trusted-keys.js';

/** What a shell takes as one word as it stands. */
const PLAIN = /^[\w./-]+$/;

/**
 * How to get a license to try the exporter, unless the installation refuses these, and one for good.
 * @param file where the license is to be; empty if that is not configured
 */
export function licenseOrigin(file: string, keys: TrustedKeys): string {
  const out = PLAIN.test(file) ? file : 'license.json';
  const issue = `shm_license issue --licensee NAME --days 30 --out ${out}`;
  return [
    ...(keys.has(EVALUATION_KEY_ID) ? [`for evaluation: ${issue}`] : []),
    'for good: docs/license.md of the package says who issues one',
  ].join('; ');
}
