// The security key of a component: read from a file or the environment, never shown.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { Fault, messageOf } from '../errors.js';
import { quoted } from '../document/key-path.js';

/** A header takes these, without blanks at its ends. */
const VALID = /^[\x21-\x7e]([\x20-\x7e]{0,1022}[\x21-\x7e])?$/;
const LARGEST = 4096;
const GROUP_AND_OTHERS = 0o077;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the key that `source` names, as `file:<path>` or `env:<name>`; empty for an empty source.
 * @throws Fault CONFIG_INVALID that says why it cannot be used, without the key
 */
export function readSecurityKey(source: string, environment: Environment): string {
  if (source === '') return '';
  const [, kind = '', rest = ''] = /^(file|env):(.*)$/s.exec(source) ?? [];
  const raw = kind === 'file' ? fromFile(rest) : fromEnvironment(rest, environment);
  const key = raw.replace(/\r?\n$/, '');
  if (key === '') throw invalid(`${source} is empty, needed is a key`);
  if (!VALID.test(key))
    throw invalid(
      `${source} holds what no header takes, allowed are up to 1024 printable ASCII characters in one line`,
    );
  return key;
}

function fromEnvironment(name: string, environment: Environment): string {
  const value = environment[name];
  if (value === undefined) throw invalid(`the environment has no variable ${name}`);
  return value;
}

function fromFile(path: string): string {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { mode } = refuseOddKinds(path, descriptor);
      if ((mode & GROUP_AND_OTHERS) !== 0)
        throw invalid(
          `${path} has the mode ${(mode & 0o777).toString(8).padStart(4, '0')}, allowed is its owner only, as after "chmod 600"`,
        );
      const bytes = Buffer.alloc(LARGEST);
      return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, LARGEST, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw invalid(`${quoted(path)} cannot be read: ${messageOf(error)}`);
  }
}

function refuseOddKinds(path: string, descriptor: number) {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) throw invalid(`${path} is no regular file`);
  return stats;
}

const invalid = (sentence: string): Fault => new Fault('CONFIG_INVALID', sentence);
