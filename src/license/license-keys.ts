// The public keys that verify licenses, and the private keys that sign them.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readText, systemReason } from '../document/text-file.js';
import { Fault } from '../errors.js';
import { refusal } from './license-document.js';

/** Ed25519 public keys by key id. */
export type TrustedKeys = ReadonlyMap<string, KeyObject>;

/**
 * The package contains the private evaluation key, so anyone can sign with it. A license that this key signs
 * therefore has a short term.
 */
export const EVALUATION_KEY_ID = 'evaluation';
export const EVALUATION_DAYS = 31;

export const KEY_FOLDER = fileURLToPath(new URL('keys/', import.meta.url));
const PUBLIC_SUFFIX = '.pub.pem';

/**
 * Reads the shipped keys and the keys of a folder. Ignores folder keys with the id of a shipped key. Always ignores a
 * folder key with the id of the evaluation key, even if the evaluation key is not shipped.
 * @param folder may be missing; empty for none
 * @throws Fault LICENSE_REJECTED if a folder or one of its public keys cannot be used
 */
export function trustedKeys(folder: string, shippedFolder = KEY_FOLDER): TrustedKeys {
  const shipped = shippedKeys(shippedFolder);
  if (folder === '' || isMissing(folder)) return shipped;
  const own = [...loadTrustedKeys(folder)].filter(([id]) => id !== EVALUATION_KEY_ID);
  return new Map([...own, ...shipped]);
}

const shippedByFolder = new Map<string, TrustedKeys>();

/** Reads a folder of shipped keys once, since an upgrade may replace or remove the folder while the program runs. */
function shippedKeys(folder: string): TrustedKeys {
  const keys = shippedByFolder.get(folder) ?? loadTrustedKeys(folder);
  shippedByFolder.set(folder, keys);
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

/** Whether a folder does not exist. False if the system denies access to its parent. */
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
    // createPublicKey accepts private keys as well, but a private key must not be shipped.
    if (key.asymmetricKeyType === 'ed25519' && !pem.includes('PRIVATE')) return key;
  } catch {
    // The message below says enough.
  }
  throw refusal(`Trusted key ${path} is not an Ed25519 public key in PEM`);
}

const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const SECRET_SUFFIX = '.key.pem';

export const EVALUATION_KEY_FILE = join(KEY_FOLDER, `${EVALUATION_KEY_ID}${SECRET_SUFFIX}`);

export interface SigningKey {
  readonly id: string;
  readonly secret: KeyObject;
}

/**
 * Reads a private key; its id is the file name before `.key.pem`.
 * @throws Fault USAGE if the file is not a private key of that name
 */
export function readSigningKey(path: string): SigningKey {
  const file = basename(path);
  if (!file.endsWith(SECRET_SUFFIX))
    throw new Fault('USAGE', `Key file ${path} is not named <key id>${SECRET_SUFFIX}`);
  const secret = parseSecret(path, readPem(path));
  return { id: checkedId(file.slice(0, -SECRET_SUFFIX.length)), secret };
}

/**
 * Writes a key pair as `<id>.key.pem` (mode 0600) and `<id>.pub.pem`, and returns both paths.
 * @throws Fault USAGE if the id is invalid, or a file exists already or cannot be written
 */
export function makeKeyPair(folder: string, id: string): readonly [string, string] {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const secretFile = join(folder, `${checkedId(id)}${SECRET_SUFFIX}`);
  const publicFile = join(folder, `${id}.pub.pem`);
  writeNew(publicFile, publicKey.export({ type: 'spki', format: 'pem' }), 0o644);
  try {
    writeNew(secretFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), 0o600);
  } catch (thrown) {
    // Remove the public key: without its private key, it is useless.
    rmSync(publicFile);
    throw thrown;
  }
  return [secretFile, publicFile];
}

function checkedId(id: string): string {
  if (KEY_ID.test(id)) return id;
  throw new Fault(
    'USAGE',
    `Key id ${JSON.stringify(id)} is invalid, allowed: 1 to 64 letters, digits, ".", "_" or "-", starting with a letter or digit`,
  );
}

const readPem = (path: string): string =>
  readText(path, {
    refusal: (place, clause) => new Fault('USAGE', `Key file ${place} ${clause}`),
  });

function parseSecret(path: string, pem: string): KeyObject {
  try {
    const secret = createPrivateKey(pem);
    if (secret.asymmetricKeyType === 'ed25519') return secret;
  } catch {
    // The message below says enough.
  }
  throw new Fault('USAGE', `Key file ${path} is not an Ed25519 private key in PEM`);
}

function writeNew(path: string, pem: string | Buffer, mode: number): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, pem, { mode, flag: 'wx' });
  } catch (thrown) {
    throw new Fault('USAGE', `Key file ${path} cannot be written: ${systemReason(thrown)}`);
  }
}
