// The public keys that verify licenses: every `<key id>.pub.pem` shipped with the code, and those of
// a folder that the installation keeps.
import { createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemReason } from '../document/system-reason.js';
import { readText } from '../document/text-file.js';
import { refusal } from './refusal.js';

/** Ed25519 public keys by key id. */
export type TrustedKeys = ReadonlyMap<string, KeyObject>;

/** The key whose private half is public; hence the limit on what it may sign. */
export const EVALUATION_KEY_ID = 'evaluation';
export const EVALUATION_DAYS = 31;

export const KEY_FOLDER = fileURLToPath(new URL('keys/', import.meta.url));
const PUBLIC_SUFFIX = '.pub.pem';

/**
 * The shipped keys, and those of a folder that may be missing; an empty name stands for none. A file of
 * the folder replaces no shipped key and is never the evaluation key, even where that was deleted.
 * @throws Fault LICENSE_REJECTED when a folder or one of its public keys cannot be used
 */
export function trustedKeys(folder: string, shippedFolder = KEY_FOLDER): TrustedKeys {
  const shipped = shippedKeys(shippedFolder);
  if (folder === '' || isMissing(folder)) return shipped;
  const own = [...loadTrustedKeys(folder)].filter(([id]) => id !== EVALUATION_KEY_ID);
  return new Map([...own, ...shipped]);
}

const known = new Map<string, TrustedKeys>();

/** The shipped keys. Their folder is read once: an upgrade may replace or remove it while the program runs. */
function shippedKeys(folder: string): TrustedKeys {
  const keys = known.get(folder) ?? loadTrustedKeys(folder);
  known.set(folder, keys);
  return keys;
}

/**
 * Reads the keys of a folder; a key's id is its file name before `.pub.pem`.
 * @throws Fault LICENSE_REJECTED when the folder or one of its public keys cannot be used
 */
export function loadTrustedKeys(folder = KEY_FOLDER): TrustedKeys {
  const files = listFolder(folder).filter((file) => file.endsWith(PUBLIC_SUFFIX));
  return new Map(
    files.map((file) => [file.slice(0, -PUBLIC_SUFFIX.length), loadKey(join(folder, file))]),
  );
}

/** A folder that may not be looked at is not missing. */
const isMissing = (folder: string): boolean => {
  try {
    return statSync(folder, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
};

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (thrown) {
    throw refusal(`Folder ${folder} of the trusted keys cannot be read: ${systemReason(thrown)}`);
  }
}

function loadKey(path: string): KeyObject {
  try {
    const pem = readText(path);
    const key = createPublicKey(pem);
    // createPublicKey takes private keys as well, and a private key must not be shipped.
    if (key.asymmetricKeyType === 'ed25519' && !pem.includes('PRIVATE')) return key;
  } catch {
    // The message below says enough.
  }
  throw refusal(`Trusted key ${path} is not an Ed25519 public key in PEM`);
}
