// Rechecks the license of a running service: reports its status, but never stops the service.
import { asyncScheduler, distinctUntilChanged, map, scan, startWith, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { messageOf } from '../errors.js';
import { isRefused, statusOf } from './license-status.js';
import type { LicenseStatus } from './license-status.js';
import type { License } from './license.js';

/** The newest genuine license, and why the last check found none (empty if it did). */
interface Known {
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
  const started: Known = { license, trouble: '' };
  return timer(period, period, scheduler).pipe(
    scan((known) => checked(known, load), started),
    startWith(started),
    map((known) => reportOf(known, new Date(scheduler.now()))),
    distinctUntilChanged(isSame),
  );
}

function checked(known: Known, load: () => License): Known {
  try {
    return { license: load(), trouble: '' };
  } catch (thrown) {
    return { license: known.license, trouble: messageOf(thrown) };
  }
}

function reportOf({ license, trouble }: Known, now: Date): LicenseStatus {
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
