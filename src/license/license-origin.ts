// Where a license comes from, as a refused start says it.
import { EVALUATION_KEY_ID } from './trusted-keys.js';
import type { TrustedKeys } from './trusted-keys.js';

/** What a shell takes as one word as it stands. */
const PLAIN = /^[\w./-]+$/;

/** A license is there, so another one is of no use. */
const TO_BE_GIVEN =
  'give it to the user that runs the exporter, with the folders above it: docs/license.md of the package';

/**
 * How to get a license to try the exporter, unless the installation refuses these, and one for good; or
 * who must be able to read the one that is there.
 * @param file where the license is to be; empty if that is not configured
 * @param cause the system's error, if the file cannot be read
 */
export function licenseOrigin(file: string, keys: TrustedKeys, cause?: unknown): string {
  if (isDenied(cause)) return TO_BE_GIVEN;
  const out = PLAIN.test(file) ? file : 'license.json';
  const issue = `shm_license issue --licensee NAME --days 30 --out ${out}`;
  return [
    ...(keys.has(EVALUATION_KEY_ID) ? [`for evaluation: ${issue}`] : []),
    'for good: docs/license.md of the package says who issues one',
  ].join('; ');
}

const isDenied = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === 'EACCES';
