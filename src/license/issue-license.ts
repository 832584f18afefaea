// Signs new licenses and writes them to files.
import { createPublicKey, randomUUID, sign } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { systemReason } from '../document/text-file.js';
import { Fault, messageOf } from '../errors.js';
import { PRODUCT, signedBytes, verifyDocument } from './license.js';
import { formatUtc, parseDocument } from './license-document.js';
import { EVALUATION_KEY_FILE, readSigningKey } from './license-keys.js';
import type { SigningKey } from './license-keys.js';
import { readDocument } from './license-watch.js';

interface LicenseTerms {
  readonly licensee: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** Path of `<key id>.key.pem`. The default is the evaluation key, which signs for at most 31 days. */
  readonly keyFile?: string;
}

/**
 * Returns the JSON text of a new license, which may have expired or begin later. Throws if the exporter would
 * refuse the license for any other reason.
 * @throws Fault USAGE if the terms or the key do not give a valid license
 */
export function issueLicense(terms: LicenseTerms): string {
  const key = readSigningKey(terms.keyFile ?? EVALUATION_KEY_FILE);
  try {
    const text = signedText(terms, key);
    // Apply the rules and messages of license files to the new license.
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

/**
 * Writes `text` to `path` atomically, with mode 0600. An existing file is
 * replaced only if it is a license (to renew it) or empty.
 * @throws Fault USAGE if another file exists, or the file cannot be written
 */
export function writeLicense(path: string, text: string): void {
  if (!isReplaceable(path))
    throw new Fault(
      'USAGE',
      `${path} exists and is neither a license nor an empty file, so it is not replaced`,
    );
  const temporary = `${path}.${randomUUID()}`;
  try {
    writeWhole(temporary, text);
    renameSync(temporary, path);
  } catch (thrown) {
    rmSync(temporary, { force: true });
    throw new Fault('USAGE', `${path} cannot be written: ${systemReason(thrown)}`);
  }
}

function isReplaceable(path: string): boolean {
  // A rename would destroy a link or device that an administrator made.
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return true;
  return found.isFile() && (found.size === 0 || isLicense(path));
}

function isLicense(path: string): boolean {
  try {
    readDocument(path);
    return true;
  } catch {
    return false;
  }
}

function writeWhole(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
