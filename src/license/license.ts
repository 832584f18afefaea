// A license, its verification, and its status.
import { verify } from 'node:crypto';
import { quoted } from '../document/document.js';
import { codeOf } from '../errors.js';
import { formatUtc, parseUtc, refusal } from './license-document.js';
import type { LicenseDocument } from './license-document.js';
import { EVALUATION_DAYS, EVALUATION_KEY_ID } from './license-keys.js';
import type { TrustedKeys } from './license-keys.js';

export const PRODUCT = 'shm_exporter';
const SIGNATURE_BYTES = 64;
const DAY_MS = 86_400_000;

/** A license with a valid signature. `statusOf` tells whether the license is in force. */
export interface License {
  readonly id: string;
  readonly licensee: string;
  readonly keyId: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** The signed bytes: the canonical JSON (RFC 8785) of all fields but the signature, with sorted keys and no blanks. */
export const signedBytes = (fields: Omit<LicenseDocument, 'signature'>): Buffer =>
  Buffer.from(JSON.stringify(fields, Object.keys(fields).sort()), 'utf8');

/**
 * Verifies a license. Checks the signature before the dates, so that the fault for a forged file names the signature.
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
  // Base64 that differs only in ignored bits or characters decodes to the same bytes; accept only the canonical text.
  if (bytes.length !== SIGNATURE_BYTES || bytes.toString('base64') !== signature)
    throw refusal(
      `${place} has a bad signature: the signature is not ${SIGNATURE_BYTES} bytes in base64`,
    );
  if (!verify(null, signedBytes(fields), key, bytes))
    throw refusal(
      `${place} has a bad signature: the license was changed after it was issued, ` +
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
      `${place} expires at ${formatUtc(expiresAt)}, allowed: times after ${formatUtc(issuedAt)}, when it was issued`,
    );
  if (keyId === EVALUATION_KEY_ID && days > EVALUATION_DAYS)
    throw refusal(
      `${place} lasts from ${formatUtc(issuedAt)} to ${formatUtc(expiresAt)}; ` +
        `the ${EVALUATION_KEY_ID} key may sign for at most ${EVALUATION_DAYS} days; ` +
        'for a longer term, sign with a key of your own: shm_license keygen',
    );
}

/** A path that needs no quotes in a shell. */
const PLAIN_PATH = /^[\w./-]+$/;

const GIVE_ACCESS =
  'let the user that runs the exporter read the file and enter its folders: see docs/license.md of the package';

/**
 * The remedy for a license file that is missing or cannot be read: how to get a license, or who needs access to the
 * file. Suggests an evaluation license only if the installation trusts the evaluation key.
 * @param file the configured path; empty if there is none
 * @param cause the system's error, if the file cannot be read
 */
export function licenseRemedy(file: string, keys: TrustedKeys, cause?: unknown): string {
  if (codeOf(cause) === 'EACCES') return GIVE_ACCESS;
  const out = PLAIN_PATH.test(file) ? file : 'license.json';
  const issue = `shm_license issue --licensee NAME --days 30 --out ${out}`;
  return [
    ...(keys.has(EVALUATION_KEY_ID) ? [`for evaluation: ${issue}`] : []),
    'for permanent use: docs/license.md of the package says who issues licenses',
  ].join('; ');
}

const HOUR_MS = 3_600_000;
/** Spec 8: a license is accepted for 36 hours after its expiry, the last instant included. */
const GRACE_HOURS = 36;

/** The states of a license. `invalid` occurs only in a running service: a check of its license file failed. */
export const LICENSE_STATES = ['valid', 'grace', 'expired', 'early', 'invalid'] as const;
/** The exporter starts with a license in the state `valid` or `grace` only. */
export type LicenseState = (typeof LICENSE_STATES)[number];

export interface LicenseStatus {
  readonly license: License;
  readonly state: LicenseState;
  /** A warning for the operator; empty if there is none. */
  readonly warning: string;
  /** The expiry in Unix seconds. */
  readonly expirySeconds: number;
}

export const isRefused = ({ state }: LicenseStatus): boolean =>
  state !== 'valid' && state !== 'grace';

export function statusOf(license: License, now: Date): LicenseStatus {
  const state = stateOf(license, now);
  return {
    license,
    state,
    warning: warningOf(state, license, now),
    expirySeconds: license.expiresAt.getTime() / 1000,
  };
}

function stateOf(license: License, now: Date): Exclude<LicenseState, 'invalid'> {
  if (now < license.issuedAt) return 'early';
  if (now < license.expiresAt) return 'valid';
  return now <= graceEnd(license) ? 'grace' : 'expired';
}

function warningOf(state: Exclude<LicenseState, 'invalid'>, license: License, now: Date): string {
  const { id, issuedAt, expiresAt } = license;
  const graceEndsAt = graceEnd(license);
  const hoursLeft = Math.ceil((graceEndsAt.getTime() - now.getTime()) / HOUR_MS);
  switch (state) {
    case 'early':
      return `license ${id} is not valid before ${formatUtc(issuedAt)}`;
    case 'valid':
      return '';
    case 'grace':
      return `license ${id} expired at ${formatUtc(expiresAt)}; the grace period ends in ${hoursLeft} h`;
    case 'expired':
      return `license ${id} expired at ${formatUtc(expiresAt)}; its grace period of ${GRACE_HOURS} h ended at ${formatUtc(graceEndsAt)}`;
  }
}

const graceEnd = ({ expiresAt }: License): Date =>
  new Date(expiresAt.getTime() + GRACE_HOURS * HOUR_MS);
