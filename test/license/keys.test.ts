import { expect } from 'chai';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {
  KEY_FOLDER,
  loadTrustedKeys,
  makeKeyPair,
  readSigningKey,
  trustedKeys,
} from '#app/license/license-keys.js';
import { faultOf } from './fault-of.js';
import { EVALUATION_KEY } from './signed-license.js';
import { temporaryFolder } from './temporary-folder.js';

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('The license keys', () => {
  const inFolder = temporaryFolder();

  it('include both keys of the evaluation key pair', () => {
    expect(readdirSync(KEY_FOLDER)).to.include.members([
      'evaluation.key.pem',
      'evaluation.pub.pem',
    ]);
    const trusted = loadTrustedKeys().get('evaluation');
    expect(trusted?.equals(createPublicKey(EVALUATION_KEY))).to.equal(true);
  });

  it('are trusted under the names of their .pub.pem files, and other files are ignored', () => {
    makeKeyPair(inFolder('.'), 'acme-2026');
    makeKeyPair(inFolder('.'), 'acme.2027');
    writeFileSync(inFolder('README'), 'keys');
    expect([...loadTrustedKeys(inFolder('.')).keys()]).to.deep.equal(['acme-2026', 'acme.2027']);
  });

  describe('in the folder of an installation', () => {
    const SHIPPED = 'evaluation.pub.pem';
    const own = () => inFolder('own');
    const trusted = (shippedFolder?: string) => trustedKeys(own(), shippedFolder);

    it('are trusted in addition to the shipped keys', () => {
      makeKeyPair(own(), 'acme-2026');
      expect([...trusted().keys()]).to.have.members(['acme-2026', ...loadTrustedKeys().keys()]);
    });

    for (const missing of ['', 'no'])
      it(`add nothing to the shipped keys if ${missing === '' ? 'no folder is configured' : 'the folder does not exist'}`, () =>
        expect([...trustedKeys(missing && inFolder(missing)).keys()]).to.deep.equal([
          ...loadTrustedKeys().keys(),
        ]));

    it('replace no shipped key', () => {
      makeKeyPair(own(), 'evaluation');
      makeKeyPair(own(), 'vendor');
      makeKeyPair(inFolder('shipped'), 'vendor');
      copyFileSync(`${KEY_FOLDER}${SHIPPED}`, inFolder(`shipped/${SHIPPED}`));
      const shipped = loadTrustedKeys(inFolder('shipped'));
      const both = trusted(inFolder('shipped'));
      const pems = (keys: typeof shipped) =>
        ['evaluation', 'vendor'].map((id) => keys.get(id)?.export({ type: 'spki', format: 'pem' }));
      expect(pems(both)).to.deep.equal(pems(shipped));
    });

    it('never replace the evaluation key, even if its shipped file is deleted', () => {
      mkdirSync(inFolder('shipped'));
      mkdirSync(own());
      copyFileSync(`${KEY_FOLDER}${SHIPPED}`, `${own()}/${SHIPPED}`);
      expect([...trusted(inFolder('shipped')).keys()]).to.deep.equal([]);
    });

    it('are refused if one of their files is invalid, even if a shipped key has the same id, and the error names the file', () => {
      mkdirSync(own());
      writeFileSync(`${own()}/${SHIPPED}`, 'key');
      expect(faultOf(() => trusted())).to.deep.equal({
        code: 'LICENSE_REJECTED',
        message: `Trusted key ${own()}/${SHIPPED} is not an Ed25519 public key in PEM`,
      });
    });

    it('are reported as missing if their folder is a file', () => {
      writeFileSync(own(), '');
      expect(faultOf(() => trusted())).to.deep.equal({
        code: 'LICENSE_REJECTED',
        message: `Folder ${own()} of the trusted keys cannot be read: a part of its path is not a folder`,
      });
    });
  });

  it('are created as a pair, with a private key that only its owner can read', () => {
    const [secretFile, publicFile] = makeKeyPair(inFolder('new/keys'), 'vendor');
    expect([secretFile, publicFile]).to.deep.equal([
      inFolder('new/keys/vendor.key.pem'),
      inFolder('new/keys/vendor.pub.pem'),
    ]);
    expect(modeOf(secretFile)).to.equal(0o600);
    const { id, secret } = readSigningKey(secretFile);
    expect(id).to.equal('vendor');
    const published = createPublicKey(readFileSync(publicFile, 'utf8'));
    expect(createPublicKey(secret).equals(published)).to.equal(true);
  });

  for (const half of ['key', 'pub'])
    it(`are not created if the .${half}.pem file exists already`, () => {
      const path = inFolder(`vendor.${half}.pem`);
      writeFileSync(path, 'mine');
      expect(faultOf(() => makeKeyPair(inFolder('.'), 'vendor'))).to.deep.equal({
        code: 'USAGE',
        message: `Key file ${path} cannot be written: it exists already`,
      });
      expect(readdirSync(inFolder('.'))).to.deep.equal([`vendor.${half}.pem`]);
      expect(readFileSync(path, 'utf8')).to.equal('mine');
    });

  for (const id of ['', '.hidden', '../up', 'a b', 'a'.repeat(65)])
    it(`cannot have the id ${id.length > 64 ? 'of 65 letters' : JSON.stringify(id)}`, () =>
      expect(faultOf(() => makeKeyPair(inFolder('.'), id))).to.deep.equal({
        code: 'USAGE',
        message: `Key id "${id}" is invalid, allowed: 1 to 64 letters, digits, ".", "_" or "-", starting with a letter or digit`,
      }));

  const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ed25519 = () => generateKeyPairSync('ed25519');
  const publicPem = { type: 'spki', format: 'pem' } as const;
  const secretPem = { type: 'pkcs8', format: 'pem' } as const;

  const untrusted = {
    'a text that is not PEM': () => 'key',
    'an RSA key': () => rsa().publicKey.export(publicPem),
    'a private key': () => ed25519().privateKey.export(secretPem),
  };
  for (const [name, pem] of Object.entries(untrusted))
    it(`are refused if the file of a trusted key contains ${name}`, () => {
      writeFileSync(inFolder('vendor.pub.pem'), pem());
      expect(faultOf(() => loadTrustedKeys(inFolder('.')))).to.deep.equal({
        code: 'LICENSE_REJECTED',
        message: `Trusted key ${inFolder('vendor.pub.pem')} is not an Ed25519 public key in PEM`,
      });
    });

  it('are reported as missing if their folder does not exist', () =>
    expect(faultOf(() => loadTrustedKeys(inFolder('no')))).to.deep.equal({
      code: 'LICENSE_REJECTED',
      message: `Folder ${inFolder('no')} of the trusted keys cannot be read: no such file or folder`,
    }));

  const unfit = {
    'a text that is not PEM': () => 'key',
    'an RSA key': () => rsa().privateKey.export(secretPem),
    'a public key': () => ed25519().publicKey.export(publicPem),
  };
  for (const [name, pem] of Object.entries(unfit))
    it(`are refused for signing if the key file contains ${name}`, () => {
      writeFileSync(inFolder('vendor.key.pem'), pem());
      expect(faultOf(() => readSigningKey(inFolder('vendor.key.pem')))).to.deep.equal({
        code: 'USAGE',
        message: `Key file ${inFolder('vendor.key.pem')} is not an Ed25519 private key in PEM`,
      });
    });
});
