// Reads the license of a running service again; reports its status, but never stops the service.
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

/** The newest genuine license, and why the last check found none (empty if it did). */
interface KnownLicense {
  readonly license: License;
  readonly trouble: string;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const SHORTEST_MS = 1000;
const LONGEST_MS = DAY_MS;

/**
 * The status of the license, now and whenever it changes (in grace: every hour). Calls `load` once
 * a period, and so finds a renewed file. If it throws, the error becomes a warning, and the last
 * known license stays in use. Never errors, never completes.
 *
 * @param everyMs period of the checks in ms, limited to between a second and a day
 */
export function watchLicense(
  license: License,
  load: () => License,
  everyMs = MINUTE_MS,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<LicenseStatus> {
  const period = Math.min(Math.max(everyMs, SHORTEST_MS), LONGEST_MS);
  const started: KnownLicense = { license, trouble: '' };
  return timer(period, period, scheduler).pipe(
    scan((known) => checked(known, load), started),
    startWith(started),
    map((known) => reportOf(known, new Date(scheduler.now()))),
    distinctUntilChanged(isSame),
  );
}

function checked(known: KnownLicense, load: () => License): KnownLicense {
  try {
    return { license: load(), trouble: '' };
  } catch (thrown) {
    return { license: known.license, trouble: messageOf(thrown) };
  }
}

function reportOf({ license, trouble }: KnownLicense, now: Date): LicenseStatus {
  const status = statusOf(license, now);
  if (trouble === '' && !isRefused(status)) return status;
  const warning = `${trouble || status.warning}; a start would be refused now`;
  return { ...status, ...(trouble && { standing: 'invalid' }), warning };
}

const isSame = (one: LicenseStatus, other: LicenseStatus): boolean =>
  one.standing === other.standing &&
  one.warning === other.warning &&
  one.license.id === other.license.id &&
  one.expirySeconds === other.expirySeconds;

/** The most bytes of a license file: a hundred times what one needs. */
const MAX_FILE_BYTES = 65_536;

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
