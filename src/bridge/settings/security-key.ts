// Reads the security key of a component, and the certificates to trust. No message shows the key.
import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { checkedCertificates } from '../../document/certificates.js';
import { readRegularFile, readText } from '../../document/text-file.js';
import { Fault } from '../../errors.js';

/** The environment and the user of the process. */
export interface KeyReader {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The effective user id of the process; undefined on systems without user ids. */
  readonly userId: number | undefined;
}

const MAX_CHARACTERS = 1024;
const MAX_FILE_BYTES = 4096;
const GROUP_AND_OTHERS = 0o077;
const GROUP_READ = 0o040;
const ROOT = 0;

/**
 * Reads the key that `source` names, as `file:<path>` or `env:<name>`; empty for an empty source.
 * Removes one line break at the end of the key.
 * @throws Fault CONFIG_INVALID with the reason, without the key
 */
export function readSecurityKey(source: string, reader: KeyReader): string {
  const [, kind, rest = ''] = /^(file|env):(.*)$/s.exec(source) ?? [];
  if (kind === undefined) return '';
  const raw = kind === 'file' ? fromFile(rest, reader) : fromEnvironment(rest, reader);
  const key = raw.replace(/\r?\n$/, '');
  const fault = faultOf(key);
  if (fault !== undefined) throw invalid(`${kind === 'file' ? rest : source}: ${fault}`);
  return key;
}

/** The reason why an HTTP header cannot contain the key; undefined for a valid key. */
function faultOf(key: string): string | undefined {
  if (key === '') return 'is empty, needed: a key';
  if (key.length > MAX_CHARACTERS)
    return `is longer than the limit of ${MAX_CHARACTERS} characters`;
  if (/[\r\n]/.test(key)) return 'has several lines, needed: a single line';
  const odd = key.search(/[^ -~]/);
  if (odd >= 0)
    return `character ${odd + 1} of the key is not printable ASCII, which HTTP headers require`;
  if (key.trim() !== key)
    return 'the key starts or ends with a blank, which HTTP headers do not keep';
  return undefined;
}

function fromEnvironment(name: string, { environment }: KeyReader): string {
  const value = environment[name];
  if (value === undefined) throw invalid(`the environment variable ${name} is not set`);
  return value;
}

/**
 * The mode bits that a key file must not have. Only a key that systemd passes as a credential may be readable for its
 * group: systemd gives it the mode 0440, in a folder that is closed to other users (systemd#29435).
 */
function forbiddenBits(path: string, { environment }: KeyReader): number {
  const isCredential = dirname(path) === environment['CREDENTIALS_DIRECTORY'];
  return isCredential ? GROUP_AND_OTHERS & ~GROUP_READ : GROUP_AND_OTHERS;
}

function fromFile(path: string, reader: KeyReader): string {
  const { userId } = reader;
  const inspect = ({ mode, uid }: Stats): void => {
    if ((mode & forbiddenBits(path, reader)) !== 0)
      throw invalid(
        `${path}: has mode ${(mode & 0o777).toString(8).padStart(4, '0')}, allowed: access for its owner only, as after chmod 600`,
      );
    // Check the owner too, since the owner of a file can read it and replace the key.
    if (userId !== undefined && uid !== userId && uid !== ROOT)
      throw invalid(
        `${path}: belongs to user ${uid}, allowed: ${userId === ROOT ? 'root' : `root or user ${userId}`}, who runs the bridge`,
      );
  };
  return readRegularFile(path, { maxBytes: MAX_FILE_BYTES, inspect }).toString('latin1');
}

const invalid = (sentence: string): Fault => new Fault('CONFIG_INVALID', sentence);

/**
 * Reads a file of certificates in PEM.
 * @throws Fault CONFIG_INVALID for a file without a certificate, or with a damaged one
 */
export function readCertificates(file: string): string {
  const text = readText(file);
  checkedCertificates(text, (clause) => invalid(`${file}: ${clause}`));
  return text;
}
