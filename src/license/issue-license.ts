// Issues a license: the fields, signed.
import { createPublicKey, randomUUID, sign } from 'node:crypto';
import { Fault, messageOf } from '../errors.js';
import { parseDocument } from './license-document.js';
import { PRODUCT, signedBytes, verifyDocument } from './license.js';
import { EVALUATION_KEY_FILE, readSigningKey } from './signing-key.js';
import type { SigningKey } from './signing-key.js';
import { formatUtc } from './utc-time.js';

export interface LicenseTerms {
  readonly licensee: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** `<key id>.key.pem`; without it the evaluation key signs, for at most 31 days. */
  readonly keyFile?: string;
}

/**
 * The JSON text of a new license. It may have expired, or begin later; it is not issued if a reader
 * would refuse it for another reason.
 * @throws Fault USAGE if the terms or the key do not give a valid license
 */
export function issueLicense(terms: LicenseTerms): string {
  const key = readSigningKey(terms.keyFile ?? EVALUATION_KEY_FILE);
  try {
    const text = signedText(terms, key);
    // Read back, so that the same rules and messages apply to issued and accepted licenses.
    const place = 'The license';
    const keys = new Map([[key.id, createPublicKey(key.secret)]]);
    verifyDocument(parseDocument(text, place), place, keys);
    return text;
  } catch (thrown) {
    throw new Fault('USAGE', messageOf(thrown), { cause: thrown });
  }
}

function signedText({ licensee, issuedAt, expiresAt }: LicenseTerms, key: SigningKey): string {
  const fields = {
    license_id: randomUUID(),
    licensee,
    product: PRODUCT,
    issued_at: formatUtc(issuedAt),
    expires_at: formatUtc(expiresAt),
    key_id: key.id,
  };
  const signature = sign(null, signedBytes(fields), key.secret).toString('base64');
  return `${JSON.stringify({ ...fields, signature }, undefined, 2)}\n`;
}
