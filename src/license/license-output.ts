// Puts an issued license on disk: whole or not at all, and never over a file of another kind.
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { systemReason } from '../document/system-reason.js';
import { Fault } from '../errors.js';
import { readDocument } from './license-file.js';

/**
 * Writes `text` to `path` with mode 0600. A license or an empty file that is there is replaced, as
 * a renewal wants it; a reader sees the old text or the new, never a part.
 * @throws Fault USAGE when something else is there, or the file cannot be written
 */
export function writeLicense(path: string, text: string): void {
  if (!isReplaceable(path))
    throw new Fault(
      'USAGE',
      `${path} is there and is neither a license nor an empty file; it stays as it is`,
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
  // A link or a device is somebody's arrangement, which a rename would destroy.
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
