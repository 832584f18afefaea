// The license file on disk: read with a bound, verified, and checked at startup.
import { readText } from '../document/text-file.js';
import { Fault } from '../errors.js';
import { parseDocument } from './license-document.js';
import type { LicenseDocument } from './license-document.js';
import { isRefused, statusOf } from './license-status.js';
import type { LicenseStatus } from './license-status.js';
import { verifyDocument } from './license.js';
import type { License } from './license.js';
import { refusal } from './refusal.js';
import { loadTrustedKeys } from './trusted-keys.js';
import type { TrustedKeys } from './trusted-keys.js';
import { formatUtc } from './utc-time.js';

/** The most bytes of a license file: a hundred times what one needs. */
export const MAX_FILE_BYTES = 65_536;

/**
 * Checks the license at startup (spec 1.2, 5): at `now` it must be genuine, begun, and at most 36
 * hours past its expiry.
 * @throws Fault LICENSE_REJECTED with the reason in one sentence, or LICENSE_EARLY if it begins later
 */
export function readLicense(path: string, now: Date, keys?: TrustedKeys): LicenseStatus {
  const status = statusOf(loadLicense(path, keys), now);
  const sentence = `${placeOf(path)}: ${status.warning}`;
  if (status.standing === 'early')
    throw new Fault(
      'LICENSE_EARLY',
      `${sentence}; the clock of this host says ${formatUtc(now)}: if it is wrong, start again once it is set`,
    );
  if (isRefused(status)) throw refusal(sentence);
  return status;
}

/**
 * The genuine license in a file, at any date. By default the shipped `keys` are trusted.
 * @throws Fault LICENSE_REJECTED when there is none
 */
export const loadLicense = (path: string, keys: TrustedKeys = loadTrustedKeys()): License =>
  verifyDocument(readDocument(path), placeOf(path), keys);

/**
 * The fields of a license file, not verified.
 * @throws Fault LICENSE_REJECTED when they cannot be read
 */
export function readDocument(path: string): LicenseDocument {
  if (path === '') throw refusal('No license file is configured');
  return parseDocument(readLicenseText(path), placeOf(path));
}

const placeOf = (path: string): string => `License file ${path}`;

const readLicenseText = (path: string): string =>
  readText(path, {
    maxBytes: MAX_FILE_BYTES,
    refusal: (place, clause, cause) => refusal(`${placeOf(place)} ${clause}`, '', cause),
  });
