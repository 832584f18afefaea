// Tests the sources of security keys, refused keys, and that no message contains a key.
import { expect } from 'chai';
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, symlinkSync } from 'node:fs';
import { readCertificates, readSecurityKey } from '#app/bridge/settings/security-key.js';
import type { KeyReader } from '#app/bridge/settings/security-key.js';
import { Fault } from '#app/errors.js';
import { COMPONENT_TLS, OTHER_TLS } from '../../support/component-certificates.js';
import { faultMessage } from '../../support/fault-message.js';
import { needsRoot } from '../../support/needs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { KEYS } from './bridge-files.js';
import { anyCharacter } from '../../support/any-character.js';

describe('The reader of security keys', () => {
  const folder = temporaryFolder();
  const keyFile = (content: string | Uint8Array, mode = 0o600): string => {
    chmodSync(folder.write('k', content), mode);
    return `file:${folder.path('k')}`;
  };
  const env = (value: string): KeyReader => ({ ...KEYS, environment: { K: value } });
  const complaint = (source: string, keys = KEYS) =>
    folder.bare(faultMessage('CONFIG_INVALID', () => readSecurityKey(source, keys)));

  it('returns an empty key if none is configured', () =>
    expect(readSecurityKey('', KEYS)).to.equal(''));

  const taken: readonly (readonly [kind: string, content: string, key: string])[] = [
    ['a key unchanged', 's3cret', 's3cret'],
    ['a key without the line break at its end', 's3cret\n', 's3cret'],
    ['a key without the Windows line break at its end', 's3cret\r\n', 's3cret'],
    ['a key with blanks and punctuation', '"a: b\\c#" ~!', '"a: b\\c#" ~!'],
    ['a key of one character', 'x', 'x'],
    ['a key of 1024 characters', `${'k'.repeat(1024)}\r\n`, 'k'.repeat(1024)],
  ];
  for (const [kind, content, key] of taken) {
    it(`reads ${kind} from a file`, () =>
      expect(readSecurityKey(keyFile(content), KEYS)).to.equal(key));
    it(`reads ${kind} from an environment variable`, () =>
      expect(readSecurityKey('env:K', env(content))).to.equal(key));
  }

  const faults: readonly (readonly [kind: string, content: string, fault: string])[] = [
    ['is empty', '', 'is empty, needed: a key'],
    ['has only a line break', '\n', 'is empty, needed: a key'],
    ['has two lines', 's3cret\nmore\n', 'has several lines, needed: a single line'],
    ['ends in two line breaks', 's3cret\n\n', 'has several lines, needed: a single line'],
    [
      'begins with a blank',
      ' s3cret',
      'the key starts or ends with a blank, which HTTP headers do not keep',
    ],
    [
      'ends in a blank',
      's3cret \n',
      'the key starts or ends with a blank, which HTTP headers do not keep',
    ],
    ['is too long', `${'s3cret'.repeat(200)}\n`, 'is longer than the limit of 1024 characters'],
    ['is one character too long', 'k'.repeat(1025), 'is longer than the limit of 1024 characters'],
    [
      'has a tab',
      's3cret\tx',
      'character 7 of the key is not printable ASCII, which HTTP headers require',
    ],
    [
      'begins with a byte order mark',
      '\uFEFFs3cret',
      'character 1 of the key is not printable ASCII, which HTTP headers require',
    ],
    [
      'has a letter outside ASCII',
      's3crét',
      'character 5 of the key is not printable ASCII, which HTTP headers require',
    ],
    [
      'has a zero byte',
      's3cret\0',
      'character 7 of the key is not printable ASCII, which HTTP headers require',
    ],
  ];
  for (const [kind, content, fault] of faults) {
    it(`refuses a file that ${kind}`, () =>
      expect(complaint(keyFile(content))).to.equal(`k: ${fault}`));
    it(`refuses a variable that ${kind}`, () =>
      expect(complaint('env:K', env(content))).to.equal(`env:K: ${fault}`));
  }

  it('refuses a file that is larger than the limit for reading', () =>
    expect(complaint(keyFile('s3cret'.repeat(100_000)))).to.equal(
      'k: is larger than the limit of 4 KiB',
    ));

  it('refuses a file whose bytes are not ASCII text', () =>
    expect(complaint(keyFile(Uint8Array.of(0x73, 0xff, 0xfe)))).to.equal(
      'k: character 2 of the key is not printable ASCII, which HTTP headers require',
    ));

  it('refuses a variable that does not exist', () =>
    expect(complaint('env:K')).to.equal('the environment variable K is not set'));

  for (const mode of [0o600, 0o400, 0o700])
    it(`accepts a file of mode ${mode.toString(8)}`, () =>
      expect(readSecurityKey(keyFile('s3cret', mode), KEYS)).to.equal('s3cret'));

  for (const mode of [0o640, 0o604, 0o660, 0o644, 0o610, 0o601])
    it(`refuses a file of mode ${mode.toString(8)}`, () =>
      expect(complaint(keyFile('s3cret', mode))).to.equal(
        `k: has mode 0${mode.toString(8)}, allowed: access for its owner only, as after chmod 600`,
      ));

  describe('for a systemd credential', () => {
    const loaded = () => ({ ...KEYS, environment: { CREDENTIALS_DIRECTORY: folder.path('') } });

    for (const mode of [0o440, 0o400])
      it(`accepts a file of mode ${mode.toString(8)}`, () =>
        expect(readSecurityKey(keyFile('s3cret', mode), loaded())).to.equal('s3cret'));

    for (const mode of [0o460, 0o444, 0o450])
      it(`refuses a file of mode ${mode.toString(8)}`, () =>
        expect(complaint(keyFile('s3cret', mode), loaded())).to.include(
          `k: has mode 0${mode.toString(8)}`,
        ));

    it('applies the usual rule to a file in a folder whose path only begins like that of the credentials folder', () => {
      const source = keyFile('s3cret', 0o440);
      const environment = { CREDENTIALS_DIRECTORY: folder.path('').slice(0, -1) };
      expect(complaint(source, { ...KEYS, environment })).to.include('k: has mode 0440');
    });
  });

  it('checks the mode of the file to which a link leads', () => {
    keyFile('s3cret');
    symlinkSync(folder.path('k'), folder.path('link'));
    expect(readSecurityKey(`file:${folder.path('link')}`, KEYS)).to.equal('s3cret');
    keyFile('s3cret', 0o644);
    expect(complaint(`file:${folder.path('link')}`)).to.include('link: has mode 0644');
  });

  describe('for a file that belongs to another user', () => {
    const OWNER = 12_345;
    beforeEach(function () {
      needsRoot(this); // Only root can make a file belong to another user.
      keyFile('s3cret');
      chownSync(folder.path('k'), OWNER, OWNER);
    });

    it('refuses the file, even if only its owner can read it', () => {
      expect(complaint(`file:${folder.path('k')}`)).to.equal(
        `k: belongs to user ${OWNER}, allowed: root, who runs the bridge`,
      );
      expect(complaint(`file:${folder.path('k')}`, { ...KEYS, userId: 7 })).to.equal(
        `k: belongs to user ${OWNER}, allowed: root or user 7, who runs the bridge`,
      );
    });

    it('accepts the file if the owner runs the process, or if the platform has no users', () => {
      for (const userId of [OWNER, undefined])
        expect(readSecurityKey(`file:${folder.path('k')}`, { ...KEYS, userId })).to.equal('s3cret');
    });
  });

  it('accepts a file of root, whichever user runs the process', function () {
    needsRoot(this);
    expect(readSecurityKey(keyFile('s3cret'), { ...KEYS, userId: 7 })).to.equal('s3cret');
  });

  const kinds: readonly (readonly [string, (path: string) => unknown, string])[] = [
    ['does not exist', () => undefined, 'cannot be read: no such file or folder'],
    ['is a folder', mkdirSync, 'is a folder, needed: a regular file'],
    ['is a pipe', (path) => execFileSync('mkfifo', [path]), 'is a pipe, needed: a regular file'],
    [
      'is a device',
      (path) => {
        symlinkSync('/dev/zero', path);
      },
      'is a device, needed: a regular file',
    ],
  ];
  for (const [kind, make, fault] of kinds)
    it(`refuses a path that ${kind}`, () => {
      make(folder.path('k'));
      expect(complaint(`file:${folder.path('k')}`)).to.equal(`k: ${fault}`);
    });

  it('accepts exactly the keys that a header can carry, and refuses others without showing them', () =>
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), (text) => {
        const secret = `s3cret${text}`;
        try {
          const key = readSecurityKey('env:K', env(secret));
          expect(key).to.match(/^[!-~]([ -~]*[!-~])?$/);
          expect(secret.replace(/\r?\n$/, '')).to.equal(key);
        } catch (thrown) {
          if (!(thrown instanceof Fault)) throw thrown;
          expect(thrown.message).not.to.include('s3cret');
          expect(secret.replace(/\r?\n$/, '')).not.to.match(/^[!-~]([ -~]*[!-~])?$/);
        }
      }),
    ));
});

// Tests readCertificates(), which reads the CA files for the certificates of components.
const { cert, key } = COMPONENT_TLS;
const NEEDED = 'needed: a certificate in PEM ("-----BEGIN CERTIFICATE-----")';

describe('The reader of certificates', () => {
  const folder = temporaryFolder();
  const read = (text: string) => readCertificates(folder.write('ca.pem', text));

  const taken: readonly (readonly [kind: string, text: string])[] = [
    ['one certificate', cert],
    ['several certificates', `${cert}${OTHER_TLS.cert}`],
    [
      'the output of openssl around a certificate',
      `CONNECTED(00000003)\n---\nCertificate chain\n${cert}---\n`,
    ],
    ['Windows line breaks', cert.replaceAll('\n', '\r\n')],
    ['a private key beside a certificate', `${key}${cert}`],
  ];
  for (const [kind, text] of taken) it(`accepts ${kind}`, () => expect(read(text)).to.equal(text));

  const damaged = cert.replace(/\n[A-Za-z0-9]{20}/, '\n!!!!!!!!!!!!!!!!!!!!');
  const refused: readonly (readonly [kind: string, text: string, fault: string])[] = [
    ['an empty file', '', `ca.pem: holds nothing in PEM, ${NEEDED}`],
    ['a private key alone', key, `ca.pem: holds only PRIVATE KEY, ${NEEDED}`],
    ['half a certificate', cert.slice(0, 300), 'ca.pem: certificate 1 is damaged'],
    [
      'half a certificate before a whole one',
      `${cert.slice(0, 300)}\n${cert}`,
      'ca.pem: certificate 1 is damaged',
    ],
    ['a damaged certificate', damaged, 'ca.pem: certificate 1 is damaged'],
    [
      'a damaged certificate after a valid one',
      `${cert}${damaged}`,
      'ca.pem: certificate 2 is damaged',
    ],
  ];
  for (const [kind, text, fault] of refused)
    it(`refuses ${kind}, and does not show its content`, () =>
      expect(folder.bare(faultMessage('CONFIG_INVALID', () => read(text)))).to.equal(fault));
});
