// The certificate and key of a component, read from their files.
import { readFileSync } from 'node:fs';
import { Fault, messageOf } from '#app/errors.js';

/** @throws Fault USAGE if a file cannot be read */
export const readTls = (cert: string, key: string): { cert: string; key: string } => ({
  cert: read('--tls-cert', cert),
  key: read('--tls-key', key),
});

function read(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Fault('USAGE', `option ${option}: cannot read ${path}: ${messageOf(error)}`);
  }
}
