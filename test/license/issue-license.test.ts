import { expect } from 'chai';
import fc from 'fast-check';
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { issueLicense, writeLicense } from '#app/license/issue-license.js';
import { loadTrustedKeys, makeKeyPair } from '#app/license/license-keys.js';
import { readLicense } from '#app/license/license-watch.js';
import { faultOf } from './fault-of.js';
import { signedLicense } from './signed-license.js';
import { temporaryFolder } from './temporary-folder.js';

const issuedAt = new Date('2026-01-01T00:00:00Z');
const expiresAt = new Date('2026-02-01T00:00:00Z');

describe('issueLicense', () => {
  const inFolder = temporaryFolder();

  it('issues a license that is valid at startup, for any licensee of printable characters', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }), (licensee) => {
        fc.pre(licensee.trim() !== '' && licensee.length <= 256);
        fc.pre(!/[\p{Cc}\p{Zl}\p{Zp}]/u.test(licensee));
        writeFileSync(inFolder('l'), issueLicense({ licensee, issuedAt, expiresAt }));
        const { license } = readLicense(inFolder('l'), issuedAt);
        expect({ ...license, id: '' }).to.deep.equal({
          id: '',
          licensee,
          keyId: 'evaluation',
          issuedAt,
          expiresAt,
        });
      }),
    ));

  it('gives every license a unique id', () => {
    const ids = [1, 2].map(
      () =>
        /"license_id": "([^"]+)"/.exec(issueLicense({ licensee: 'A', issuedAt, expiresAt }))?.[1],
    );
    expect(new Set(ids)).to.have.property('size', 2);
  });

  it('signs a license of several years with a vendor key, and takes the key id from the name of the key file', () => {
    const [keyFile] = makeKeyPair(inFolder('keys'), 'acme-2026');
    const late = new Date('2036-01-01T00:00:00Z');
    writeFileSync(
      inFolder('l'),
      issueLicense({ licensee: 'A', issuedAt, expiresAt: late, keyFile }),
    );
    const { license } = readLicense(inFolder('l'), issuedAt, loadTrustedKeys(inFolder('keys')));
    expect(license).to.include({ keyId: 'acme-2026' }).and.to.have.deep.property('expiresAt', late);
  });

  const terms = [
    [
      'an empty licensee',
      { licensee: '' },
      'The license has "" in the field "licensee", where a string of 1 to 256 printable characters is needed',
    ],
    [
      'a licensee with half a surrogate pair',
      { licensee: '\ud800' },
      'The license has "\\ud800" in the field "licensee", where a string of 1 to 256 printable characters is needed',
    ],
    ['an invalid time', { issuedAt: new Date(NaN) }, 'Invalid time value'],
    [
      'an end before the start',
      { expiresAt: new Date(0) },
      'The license expires at 1970-01-01T00:00:00Z, allowed: times after 2026-01-01T00:00:00Z, when it was issued',
    ],
    [
      'an evaluation license of 32 days',
      { expiresAt: new Date('2026-02-02T00:00:00Z') },
      'The license lasts from 2026-01-01T00:00:00Z to 2026-02-02T00:00:00Z; the evaluation key may sign for at most 31 days; for a longer term, sign with a key of your own: shm_license keygen',
    ],
    [
      'a key file without the suffix .key.pem',
      { keyFile: '/k/a.pem' },
      'Key file /k/a.pem is not named <key id>.key.pem',
    ],
    [
      'a key that is missing',
      { keyFile: '/k/a.key.pem' },
      'Key file /k/a.key.pem cannot be read: no such file or folder',
    ],
  ] as const;
  for (const [name, changed, sentence] of terms)
    it(`refuses ${name}`, () =>
      expect(
        faultOf(() => issueLicense({ licensee: 'A', issuedAt, expiresAt, ...changed })),
      ).to.deep.equal({ code: 'USAGE', message: sentence }));
});

describe('writeLicense', () => {
  const inFolder = temporaryFolder();
  const path = () => inFolder('license.json');

  it('writes one file that only its owner can read', () => {
    writeLicense(path(), 'text');
    expect(readFileSync(path(), 'utf8')).to.equal('text');
    expect(statSync(path()).mode & 0o777).to.equal(0o600);
    expect(readdirSync(inFolder('.'))).to.deep.equal(['license.json']);
  });

  for (const [name, there] of [
    ['an older license, even one that an unknown key signed', signedLicense({ key_id: 'gone' })],
    ['an empty file', ''],
  ] as const)
    it(`replaces ${name}`, () => {
      writeFileSync(path(), there, { mode: 0o644 });
      writeLicense(path(), 'text');
      expect(readFileSync(path(), 'utf8')).to.equal('text');
      expect(statSync(path()).mode & 0o777).to.equal(0o600);
    });

  const kept = {
    'a file of another kind': () => writeFileSync(path(), '{"name":"app"}'),
    'a folder': () => mkdirSync(path()),
    'a link, even a link to a license': () => {
      writeFileSync(inFolder('data'), signedLicense());
      symlinkSync('data', path());
    },
  };
  for (const [name, make] of Object.entries(kept))
    it(`does not replace ${name}`, () => {
      make();
      const before = readdirSync(inFolder('.'));
      expect(faultOf(() => writeLicense(path(), 'text'))).to.deep.equal({
        code: 'USAGE',
        message: `${path()} exists and is neither a license nor an empty file, so it is not replaced`,
      });
      expect(readdirSync(inFolder('.'))).to.deep.equal(before);
    });

  it('reports a missing folder', () =>
    expect(faultOf(() => writeLicense(inFolder('no/l'), 'text'))).to.deep.equal({
      code: 'USAGE',
      message: `${inFolder('no/l')} cannot be written: no such file or folder`,
    }));
});
