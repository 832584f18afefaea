import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import { parseDocument } from '#app/license/license-document.js';
import { verifyDocument } from '#app/license/license.js';
import { loadTrustedKeys } from '#app/license/license-keys.js';
import { faultOf } from './fault-of.js';
import { FIELDS, signedLicense } from './signed-license.js';

const untrusted = generateKeyPairSync('ed25519');

describe('A license is refused if its text', () => {
  const text =
    ' in the field "licensee", where a string of 1 to 256 printable characters is needed';
  const known =
    'the fields of a license are license_id, licensee, product, issued_at, expires_at, key_id, signature';
  const changed =
    'has a bad signature: the license was changed after it was issued, or the key "evaluation" did not sign it';
  const shape = 'has a bad signature: the signature is not 64 bytes in base64';
  const iso = 'where a time in ISO 8601 and UTC such as 2026-01-31T00:00:00Z is needed';
  const replaced = (from: string | RegExp, to: string) => signedLicense().replace(from, to);
  const keys = loadTrustedKeys();
  const trusted = [...keys.keys()].join(', ');
  const without = (field: string) =>
    JSON.stringify({ ...(JSON.parse(signedLicense()) as object), [field]: undefined });

  const texts: readonly (readonly [string, string, string])[] = [
    ['is empty', '', 'is not JSON'],
    ['is truncated', signedLicense().slice(0, -1), 'is not JSON'],
    ['is nested too deep', '['.repeat(60_000), 'is not JSON'],
    ['is null', 'null', 'holds null, where a JSON object is needed'],
    ['is an array', '[]', 'holds an array, where a JSON object is needed'],
    ['is a number', '7', 'holds a number, where a JSON object is needed'],
    ['is a JSON string', '"L-1"', 'holds "L-1", where a JSON object is needed'],
    ...[...Object.keys(FIELDS), 'signature'].map(
      (field) => [`lacks ${field}`, without(field), `has no field "${field}"`] as const,
    ),
    ['has a number in place of a string', signedLicense({ licensee: 7 }), `has a number${text}`],
    ['has null in place of a string', signedLicense({ licensee: null }), `has null${text}`],
    [
      'has an array in place of a string',
      signedLicense({ licensee: ['a'] }),
      `has an array${text}`,
    ],
    ['has an object in place of a string', signedLicense({ licensee: {} }), `has an object${text}`],
    ['has an empty string', signedLicense({ licensee: '' }), `has ""${text}`],
    ['has a blank string', signedLicense({ licensee: ' ' }), `has " "${text}`],
    [
      'has a string that is too long',
      signedLicense({ licensee: 'a'.repeat(257) }),
      `has "${'a'.repeat(60)}…"${text}`,
    ],
    ['has a string of two lines', signedLicense({ licensee: 'a\nb' }), `has "a\\nb"${text}`],
    [
      'has a terminal control sequence',
      signedLicense({ licensee: '\u009b2J' }),
      `has "\\u{9b}2J"${text}`,
    ],
    [
      'has a lone surrogate',
      replaced('Ü', '\\ud800'),
      `has "\\ud800nïted Exchanges \\"West\\""${text}`,
    ],
    [
      'has an unknown field, with a valid signature',
      signedLicense({ hosts: 1 }),
      `has the unknown field "hosts"; ${known}`,
    ],
    [
      'has a field named __proto__',
      replaced('{', '{"__proto__":{},'),
      `has the unknown field "__proto__"; ${known}`,
    ],
    [
      'is for another product',
      signedLicense({ product: 'shm_bridge' }),
      'is for the product "shm_bridge", not for "shm_exporter"',
    ],
    [
      'names an unknown key',
      signedLicense({ key_id: 'nobody' }),
      `names the unknown key "nobody"; the trusted keys are: ${trusted}`,
    ],
    ['is signed by another key', signedLicense({}, untrusted.privateKey), changed],
    ['is modified', replaced('West', 'East'), changed],
    ['has a later end than the signed one', replaced('2026-02-01', '2026-01-31'), changed],
    ['is modified and expired', replaced('2026-02-01', '2025-02-01'), changed],
    ['has a signature of another text', replaced(/"[^"]*"}$/, `"${'A'.repeat(86)}=="}`), changed],
    ['has a short signature', replaced(/"[^"]*"}$/, '"AAAA"}'), shape],
    ['has a signature in base64url', replaced(/"[^"]*"}$/, `"${'_'.repeat(86)}=="}`), shape],
    ['has a signature without padding', replaced('=="}', '"}'), shape],
    [
      'has a date that does not exist',
      signedLicense({ issued_at: '2026-02-30T00:00:00Z' }),
      `has "2026-02-30T00:00:00Z" as issued_at, ${iso}`,
    ],
    [
      'has a local time',
      signedLicense({ expires_at: '2026-02-01T00:00:00+01:00' }),
      `has "2026-02-01T00:00:00+01:00" as expires_at, ${iso}`,
    ],
    [
      'ends before its start',
      signedLicense({ issued_at: '2026-03-01T00:00:00Z' }),
      'expires at 2026-02-01T00:00:00Z, allowed: times after 2026-03-01T00:00:00Z, when it was issued',
    ],
    [
      'ends at its start',
      signedLicense({ issued_at: '2026-02-01T00:00:00Z' }),
      'expires at 2026-02-01T00:00:00Z, allowed: times after 2026-02-01T00:00:00Z, when it was issued',
    ],
    [
      'lasts longer than the evaluation key may sign for',
      signedLicense({ expires_at: '2026-02-01T00:00:01Z' }),
      'lasts from 2026-01-01T00:00:00Z to 2026-02-01T00:00:01Z; the evaluation key may sign for at most 31 days; for a longer term, sign with a key of your own: shm_license keygen',
    ],
  ];
  for (const [name, content, sentence] of texts)
    it(name, () =>
      expect(faultOf(() => verifyDocument(parseDocument(content, 'It'), 'It', keys))).to.deep.equal(
        {
          code: 'LICENSE_REJECTED',
          message: `It ${sentence}`,
        },
      ),
    );
});
