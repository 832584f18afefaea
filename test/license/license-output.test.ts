import { expect } from 'chai';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { writeLicense } from '#app/license/issue-license.js';
import { faultOf } from './fault-of.js';
import { signedLicense } from './signed-license.js';
import { temporaryFolder } from './temporary-folder.js';

describe('writeLicense', () => {
  const inFolder = temporaryFolder();
  const path = () => inFolder('license.json');

  it('writes a file that only its owner can read, and nothing beside it', () => {
    writeLicense(path(), 'text');
    expect(readFileSync(path(), 'utf8')).to.equal('text');
    expect(statSync(path()).mode & 0o777).to.equal(0o600);
    expect(readdirSync(inFolder('.'))).to.deep.equal(['license.json']);
  });

  for (const [name, there] of [
    ['an older license, even one of an unknown key', signedLicense({ key_id: 'gone' })],
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
    'a link, even to a license': () => {
      writeFileSync(inFolder('data'), signedLicense());
      symlinkSync('data', path());
    },
  };
  for (const [name, make] of Object.entries(kept))
    it(`leaves ${name} as it is`, () => {
      make();
      const before = readdirSync(inFolder('.'));
      expect(faultOf(() => writeLicense(path(), 'text'))).to.deep.equal({
        code: 'USAGE',
        message: `${path()} exists and is neither a license nor an empty file; it is not replaced`,
      });
      expect(readdirSync(inFolder('.'))).to.deep.equal(before);
    });

  it('says when the folder is missing', () =>
    expect(faultOf(() => writeLicense(inFolder('no/l'), 'text'))).to.deep.equal({
      code: 'USAGE',
      message: `${inFolder('no/l')} cannot be written: no such file or folder`,
    }));
});
