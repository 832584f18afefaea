// Reads the license file, at startup and every minute after it. A running service never stops because of its license.
import { asyncScheduler, distinctUntilChanged, map, scan, startWith, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { readText } from '../document/text-file.js';
import { Fault, messageOf } from '../errors.js';
import { isRefused, statusOf, verifyDocument } from './license.js';
import type { License, LicenseStatus } from './license.js';
import { formatUtc, parseDocument, refusal } from './license-document.js';
import type { LicenseDocument } from './license-document.js';
import { loadTrustedKeys } from './license-keys.js';
import type { TrustedKeys } from './license-keys.js';

/** The last license with a valid signature. */
interface KnownLicense {
  readonly license: License;
  /** Why the last check failed; empty if it succeeded. */
  readonly failure: string;
}

const MINUTE_MS = 60_000;

/**
 * Emits the status of the license at once, at each change, and every hour of the grace period. Calls `load` once a
 * period to find a renewed file. If `load` throws, emits the last license with the error as warning. Never errors,
 * never completes.
 * @param everyMs the period in milliseconds
 */
export function watchLicense(
  license: License,
  load: () => License,
  everyMs = MINUTE_MS,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<LicenseStatus> {
  const started: KnownLicense = { license, failure: '' };
  return timer(everyMs, everyMs, scheduler).pipe(
    scan((known) => loaded(known, load), started),
    startWith(started),
    map((known) => statusAt(known, new Date(scheduler.now()))),
    distinctUntilChanged(isSame),
  );
}

function loaded(known: KnownLicense, load: () => License): KnownLicense {
  try {
    return { license: load(), failure: '' };
  } catch (thrown) {
    return { license: known.license, failure: messageOf(thrown) };
  }
}

function statusAt({ license, failure }: KnownLicense, now: Date): LicenseStatus {
  const status = statusOf(license, now);
  if (failure === '' && !isRefused(status)) return status;
  const warning = `${failure || status.warning}; the exporter would not start now`;
  return { ...status, ...(failure && { state: 'invalid' }), warning };
}

const isSame = (one: LicenseStatus, other: LicenseStatus): boolean =>
  one.state === other.state &&
  one.warning === other.warning &&
  one.license.id === other.license.id &&
  one.expirySeconds === other.expirySeconds;

/** The maximum number of bytes of a license file, a hundred times the usual size. */
const MAX_FILE_BYTES = 65_536;

/**
 * Checks the license at startup (spec 1.2, 5): it must have a valid signature, have begun at `now`, and be at most
 * 36 hours past its expiry.
 * @throws Fault LICENSE_REJECTED with the reason in one sentence, or LICENSE_EARLY if it begins later
 */
export function readLicense(path: string, now: Date, keys?: TrustedKeys): LicenseStatus {
  const status = statusOf(loadLicense(path, keys), now);
  const sentence = `${placeOf(path)}: ${status.warning}`;
  if (status.state === 'early')
    throw new Fault(
      'LICENSE_EARLY',
      `${sentence}; the clock of this host says ${formatUtc(now)}: if that is wrong, set the clock and start again`,
    );
  if (isRefused(status)) throw refusal(sentence);
  return status;
}

/**
 * Reads a license and verifies its signature. The license may have expired, or begin later. By default, the shipped
 * `keys` are trusted.
 * @throws Fault LICENSE_REJECTED if the file cannot be read or the signature is not valid
 */
export const loadLicense = (path: string, keys: TrustedKeys = loadTrustedKeys()): License =>
  verifyDocument(readDocument(path), placeOf(path), keys);

/**
 * Reads the fields of a license file without verifying them.
 * @throws Fault LICENSE_REJECTED if the file cannot be read or has other fields
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
