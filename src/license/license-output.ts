// Writes an issued license to disk: whole or not at all, and never over a file of another kind.
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { systemReason } from '../document/system-reason.js';
import { Fault } from '../errors.js';
import { readDocument } from './license-file.js';

/**
 * Writes `text` to `path` with mode 0600. Replaces an existing license or empty file, so that a
 * license can be renewed; a reader sees the old text or the new, never a part.
 * @throws Fault USAGE if another file exists, or the file cannot be written
 */
export function writeLicense(path: string, text: string): void {
  if (!isReplaceable(path))
    throw new Fault(
      'USAGE',
      `${path} exists and is neither a license nor an empty file; it is not replaced`,
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
  // A link or a device was set up on purpose, and a rename would destroy it.
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
