// The license file on disk: read with a bound, proven genuine, and judged at startup.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { Fault } from '../errors.js';
import { parseDocument } from './license-document.js';
import type { LicenseDocument } from './license-document.js';
import { isRefused, statusOf } from './license-status.js';
import type { LicenseStatus } from './license-status.js';
import { verifyDocument } from './license.js';
import type { License } from './license.js';
import { refusal } from './refusal.js';
import { codeOf } from './system-error.js';
import { loadTrustedKeys } from './trusted-keys.js';
import type { TrustedKeys } from './trusted-keys.js';

/** The most that a license file may have: a hundred times what one needs. */
export const MAX_FILE_BYTES = 65_536;

/**
 * Admits the license of a start (spec 1.2, 5): genuine, begun, and not more than 36 hours past its
 * expiry at `now`.
 * @throws Fault LICENSE_REJECTED with one sentence that says why not
 */
export function readLicense(path: string, now: Date, keys?: TrustedKeys): LicenseStatus {
  const status = statusOf(loadLicense(path, keys), now);
  if (isRefused(status)) throw refusal(`${placeOf(path)}: ${status.warning}`);
  return status;
}

/**
 * The genuine license in a file, whatever the day. Without `keys`, those shipped are trusted.
 * @throws Fault LICENSE_REJECTED when there is none
 */
export const loadLicense = (path: string, keys: TrustedKeys = loadTrustedKeys()): License =>
  verifyDocument(readDocument(path), placeOf(path), keys);

/**
 * The fields of a license file, nothing proven.
 * @throws Fault LICENSE_REJECTED when they cannot be read
 */
export function readDocument(path: string): LicenseDocument {
  if (path === '')
    throw refusal('No license file is configured; set license_file to the path of a license');
  return parseDocument(readText(path), placeOf(path));
}

const placeOf = (path: string): string => `License file ${path}`;

function readText(path: string): string {
  const bytes = readBounded(path);
  if (bytes.length > MAX_FILE_BYTES)
    throw refusal(`${placeOf(path)} is larger than the ${MAX_FILE_BYTES} bytes that are allowed`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refusal(`${placeOf(path)} is not JSON`);
  }
}

/** At most one byte more than allowed. */
function readBounded(path: string): Buffer {
  try {
    // Without O_NONBLOCK a start would hang on a pipe that nobody writes to.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) throw refusal(`${placeOf(path)} is not a regular file`);
      return readUpTo(MAX_FILE_BYTES + 1, file);
    } finally {
      closeSync(file);
    }
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    const code = codeOf(thrown);
    if (code === 'ENOENT') throw refusal(`${placeOf(path)} does not exist`);
    throw refusal(`${placeOf(path)} cannot be read: ${code}`);
  }
}

function readUpTo(size: number, file: number): Buffer {
  const bytes = Buffer.alloc(size);
  let end = 0;
  for (let count = -1; count !== 0 && end < size; end += count)
    count = readSync(file, bytes, end, size - end, null);
  return bytes.subarray(0, end);
}
