// The public keys that verify licenses: every `<key id>.pub.pem` shipped with the code.
import { createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readdirSync } from 'node:fs';
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
 * Reads the keys of a folder; a key's id is its file name before `.pub.pem`.
 * @throws Fault LICENSE_REJECTED when the folder or one of its public keys cannot be used
 */
export function loadTrustedKeys(folder = KEY_FOLDER): TrustedKeys {
  const files = listFolder(folder).filter((file) => file.endsWith(PUBLIC_SUFFIX));
  return new Map(
    files.map((file) => [file.slice(0, -PUBLIC_SUFFIX.length), loadKey(join(folder, file))]),
  );
}

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
