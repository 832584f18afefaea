// A verified license, and the verification.
import { verify } from 'node:crypto';
import { quoted } from '../document/key-path.js';
import { canonicalJson } from './canonical-json.js';
import type { LicenseDocument } from './license-document.js';
import { refusal } from './refusal.js';
import { EVALUATION_DAYS, EVALUATION_KEY_ID } from './trusted-keys.js';
import type { TrustedKeys } from './trusted-keys.js';
import { formatUtc, parseUtc } from './utc-time.js';

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
