// The standing of a genuine license at a moment: early, valid, in its grace period, or expired.
import type { License } from './license.js';
import { formatUtc } from './utc-time.js';

const HOUR_MS = 3_600_000;
/** Spec 8: a license is accepted for 36 hours after its expiry, the last instant included. */
export const GRACE_HOURS = 36;

/** `invalid`: the file of a running service is missing or no longer genuine. */
export const STANDINGS = ['valid', 'grace', 'expired', 'early', 'invalid'] as const;
/** A start is refused with any but `valid` and `grace`. */
export type Standing = (typeof STANDINGS)[number];

export interface LicenseStatus {
  readonly license: License;
  readonly standing: Standing;
  /** A warning for the operator; empty if there is none. */
  readonly warning: string;
  /** `shm_exporter_license_expiry_timestamp_seconds`: the expiry in Unix seconds. */
  readonly expirySeconds: number;
}

export const isRefused = ({ standing }: LicenseStatus): boolean =>
  standing !== 'valid' && standing !== 'grace';

/** Judges `license` at `now`. */
export function statusOf(license: License, now: Date): LicenseStatus {
  const standing = standingOf(license, now);
  return {
    license,
    standing,
    warning: warningOf(standing, license, now),
    expirySeconds: license.expiresAt.getTime() / 1000,
  };
}

function standingOf(license: License, now: Date): Exclude<Standing, 'invalid'> {
  if (now < license.issuedAt) return 'early';
  if (now < license.expiresAt) return 'valid';
  return now <= graceEnd(license) ? 'grace' : 'expired';
}

function warningOf(standing: Exclude<Standing, 'invalid'>, license: License, now: Date): string {
  const { id, issuedAt, expiresAt } = license;
  const graceEndsAt = graceEnd(license);
  const hoursLeft = Math.ceil((graceEndsAt.getTime() - now.getTime()) / HOUR_MS);
  switch (standing) {
    case 'early':
      return `license ${id} is not valid before ${formatUtc(issuedAt)}`;
    case 'valid':
      return '';
    case 'grace':
      return `license ${id} expired at ${formatUtc(expiresAt)}; grace ends in ${hoursLeft} h`;
    case 'expired':
      return `license ${id} expired at ${formatUtc(expiresAt)}; its grace of ${GRACE_HOURS} h ended at ${formatUtc(graceEndsAt)}`;
  }
}

const graceEnd = ({ expiresAt }: License): Date =>
  new Date(expiresAt.getTime() + GRACE_HOURS * HOUR_MS);
