// Signs licenses independently of the issuer under test.
import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';

export const EVALUATION_KEY = createPrivateKey(
  readFileSync(new URL('../../src/license/keys/evaluation.key.pem', import.meta.url), 'utf8'),
);

export const FIELDS = {
  license_id: 'L-1',
  licensee: 'Ünïted Exchanges "West"',
  product: 'shm_exporter',
  issued_at: '2026-01-01T00:00:00Z',
  expires_at: '2026-02-01T00:00:00Z',
  key_id: 'evaluation',
};

/** Returns the signed text of a license with changed or additional fields. */
export function signedLicense(
  fields: Readonly<Record<string, unknown>> = {},
  key = EVALUATION_KEY,
) {
  const signed = { ...FIELDS, ...fields };
  const canonical = JSON.stringify(signed, Object.keys(signed).sort());
  const signature = sign(null, Buffer.from(canonical), key).toString('base64');
  return JSON.stringify({ ...signed, signature });
}
