// The private keys that licenses are signed with: read from and written to `<key id>.key.pem`.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemReason } from '../document/system-reason.js';
import { readText } from '../document/text-file.js';
import { Fault } from '../errors.js';
import { EVALUATION_KEY_ID, KEY_FOLDER } from './trusted-keys.js';

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
    rmSync(publicFile); // Only half a pair, and we just wrote it.
    throw thrown;
  }
  return [secretFile, publicFile];
}

function checkedId(id: string): string {
  if (KEY_ID.test(id)) return id;
  throw new Fault(
    'USAGE',
    `Key id ${JSON.stringify(id)} is not 1 to 64 letters, digits, ".", "_" or "-" that start with a letter or digit`,
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
