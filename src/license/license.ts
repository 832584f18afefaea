// A license, its verification, and its status.
import { verify } from 'node:crypto';
import { quoted } from '../document/document.js';
import { canonicalJson, formatUtc, parseUtc, refusal } from './license-document.js';
import type { LicenseDocument } from './license-document.js';
import { EVALUATION_DAYS, EVALUATION_KEY_ID } from './license-keys.js';
import type { TrustedKeys } from './license-keys.js';

export const PRODUCT = 'shm_exporter';
const SIGNATURE_BYTES = 64;
const DAY_MS = 86_400_000;

/** A genuine license. For whether it is valid now, see `statusOf`. */
export interface License {
  readonly id: string;
  readonly licensee: string;
  readonly keyId: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** The signed bytes: the canonical form of all fields but the signature. */
export const signedBytes = (fields: Omit<LicenseDocument, 'signature'>): Buffer =>
  Buffer.from(canonicalJson(fields), 'utf8');

/**
 * Verifies a license. The signature is checked before the dates: of a forged file, only the forgery
 * is reported.
 * @throws Fault LICENSE_REJECTED with a sentence that begins with `place`
 */
export function verifyDocument(
  document: LicenseDocument,
  place: string,
  keys: TrustedKeys,
): License {
  if (document.product !== PRODUCT)
    throw refusal(
      `${place} is for the product ${quoted(document.product)}, not for ${quoted(PRODUCT)}`,
    );
  verifySignature(document, place, keys);
  const license = {
    id: document.license_id,
    licensee: document.licensee,
    keyId: document.key_id,
    issuedAt: timeOf(document, 'issued_at', place),
    expiresAt: timeOf(document, 'expires_at', place),
  };
  verifyTerm(license, place);
  return license;
}

function verifySignature(document: LicenseDocument, place: string, keys: TrustedKeys): void {
  const { signature, ...fields } = document;
  const key = keys.get(fields.key_id);
  if (key === undefined)
    throw refusal(
      `${place} names the unknown key ${quoted(fields.key_id)}; ` +
        `the trusted keys are: ${[...keys.keys()].join(', ') || 'none'}`,
    );
  const bytes = Buffer.from(signature, 'base64');
  // Only the canonical spelling: base64 with other ignored bits or characters decodes to the same
  // bytes.
  if (bytes.length !== SIGNATURE_BYTES || bytes.toString('base64') !== signature)
    throw refusal(`${place} has a bad signature: it is not ${SIGNATURE_BYTES} bytes in base64`);
  if (!verify(null, signedBytes(fields), key, bytes))
    throw refusal(
      `${place} has a bad signature: it was changed after it was issued, ` +
        `or the key ${quoted(fields.key_id)} did not sign it`,
    );
}

function timeOf(document: LicenseDocument, field: 'issued_at' | 'expires_at', place: string): Date {
  const time = parseUtc(document[field]);
  if (time !== undefined) return time;
  throw refusal(
    `${place} has ${quoted(document[field])} as ${field}, ` +
      'where a time in ISO 8601 and UTC such as 2026-01-31T00:00:00Z is needed',
  );
}

function verifyTerm({ keyId, issuedAt, expiresAt }: License, place: string): void {
  const days = (expiresAt.getTime() - issuedAt.getTime()) / DAY_MS;
  if (days <= 0)
    throw refusal(
      `${place} is issued at ${formatUtc(issuedAt)}, not before it expires at ${formatUtc(expiresAt)}`,
    );
  if (keyId === EVALUATION_KEY_ID && days > EVALUATION_DAYS)
    throw refusal(
      `${place} lasts from ${formatUtc(issuedAt)} to ${formatUtc(expiresAt)}; ` +
        `the ${EVALUATION_KEY_ID} key may sign for at most ${EVALUATION_DAYS} days`,
    );
}

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

// The standing of a genuine license at a moment: early, valid, in its grace period, or expired.
const HOUR_MS = 3_600_000;
/** Spec 8: a license is accepted for 36 hours after its expiry, the last instant included. */
const GRACE_HOURS = 36;

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
