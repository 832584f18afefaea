import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { loadLicense, readLicense } from '#app/license/license-watch.js';
import { faultOf } from './fault-of.js';
import { FIELDS, signedLicense } from './signed-license.js';
import { temporaryFolder } from './temporary-folder.js';

const DURING = new Date('2026-01-15T00:00:00Z');
const vendor = generateKeyPairSync('ed25519');

describe('the license of a start', () => {
  const inFolder = temporaryFolder();
  const place = () => `License file ${inFolder('license.json')}`;

  function read(content: string | Buffer, now = DURING, keys?: Parameters<typeof readLicense>[2]) {
    writeFileSync(inFolder('license.json'), content);
    return readLicense(inFolder('license.json'), now, keys);
  }

  /** The sentence of the refusal that `act` ends in. */
  function refusal(act: () => unknown): string {
    const { code, message } = faultOf(act);
    expect(code).to.equal('LICENSE_REJECTED');
    return message;
  }

  it('is accepted while it lasts, without a warning (spec 1.2)', () =>
    expect(read(signedLicense())).to.deep.equal({
      license: {
        id: 'L-1',
        licensee: FIELDS.licensee,
        keyId: 'evaluation',
        issuedAt: new Date('2026-01-01T00:00:00Z'),
        expiresAt: new Date('2026-02-01T00:00:00Z'),
      },
      standing: 'valid',
      warning: '',
      expirySeconds: 1_769_904_000,
    }));

  it('is accepted as openssl signed it', () => {
    const golden =
      '{"license_id":"L-1","licensee":"Golden","product":"shm_exporter",' +
      '"issued_at":"2026-01-01T00:00:00Z","expires_at":"2026-02-01T00:00:00Z","key_id":"evaluation",' +
      '"signature":"DY4jcVWxh9D58zW8YyMPZ9Itcbua2yB/PI66/zu1MqB0DueZaYFeePY+EdpzlSi1zmYa4Hu190fL5eL1yRgyAw=="}';
    expect(read(golden).license.licensee).to.equal('Golden');
  });

  it('may be laid out and ordered at will, with a byte order mark', () => {
    const reversed = Object.fromEntries(
      Object.entries(JSON.parse(signedLicense()) as object).reverse(),
    );
    expect(read(`\ufeff${JSON.stringify(reversed, null, '\t')}\r\n`).standing).to.equal('valid');
  });

  it('may be reached through a link', () => {
    writeFileSync(inFolder('data'), signedLicense());
    symlinkSync('data', inFolder('link'));
    expect(readLicense(inFolder('link'), DURING).standing).to.equal('valid');
  });

  it('may last longer than 31 days when another trusted key signed it', () => {
    const fields = { key_id: 'vendor', expires_at: '2036-01-01T00:00:00Z' };
    const keys = new Map([['vendor', vendor.publicKey]]);
    expect(read(signedLicense(fields, vendor.privateKey), DURING, keys).standing).to.equal('valid');
  });

  describe('in time (spec 8)', () => {
    const expired = 'license L-1 expired at 2026-02-01T00:00:00Z';
    const moments = [
      ['2026-01-01T00:00:00.000Z', 'valid', ''],
      ['2026-01-31T23:59:59.999Z', 'valid', ''],
      ['2026-02-01T00:00:00.000Z', 'grace', `${expired}; grace ends in 36 h`],
      ['2026-02-02T00:00:00.000Z', 'grace', `${expired}; grace ends in 12 h`],
      ['2026-02-02T11:00:00.001Z', 'grace', `${expired}; grace ends in 1 h`],
      ['2026-02-02T12:00:00.000Z', 'grace', `${expired}; grace ends in 0 h`],
    ] as const;
    for (const [now, standing, warning] of moments)
      it(`${now}: ${standing}${warning && `, ${warning}`}`, () =>
        expect(read(signedLicense(), new Date(now))).to.include({ standing, warning }));

    it('is refused with another status before it is valid, since a wrong clock may be set later', () => {
      const early = faultOf(() => read(signedLicense(), new Date('2025-12-31T23:59:59.999Z')));
      expect(early.code).to.equal('LICENSE_EARLY');
      expect(early.message).to.equal(
        `${place()}: license L-1 is not valid before 2026-01-01T00:00:00Z; the clock of this host ` +
          'says 2025-12-31T23:59:59.999Z: if it is wrong, start again once it is set',
      );
    });

    const outside = [
      ['2026-02-02T12:00:00.001Z', `${expired}; its grace of 36 h ended at 2026-02-02T12:00:00Z`],
    ] as const;
    for (const [now, sentence] of outside)
      it(`${now}: ${sentence}`, () =>
        expect(refusal(() => read(signedLicense(), new Date(now)))).to.equal(
          `${place()}: ${sentence}`,
        ));

    it('leaves the day out of whether it is genuine', () => {
      writeFileSync(inFolder('license.json'), signedLicense());
      expect(loadLicense(inFolder('license.json')).id).to.equal('L-1');
    });
  });

  describe('is refused when the file', () => {
    it('is not configured', () =>
      expect(refusal(() => readLicense('', DURING))).to.equal('No license file is configured'));
    it('does not exist', () =>
      expect(refusal(() => readLicense(inFolder('license.json'), DURING))).to.equal(
        `${place()} cannot be read: no such file or folder`,
      ));
    it('cannot be opened', () => {
      symlinkSync('license.json', inFolder('license.json'));
      expect(refusal(() => readLicense(inFolder('license.json'), DURING))).to.equal(
        `${place()} cannot be read: its links lead in a circle`,
      );
    });
    it('cannot be read', () =>
      expect(refusal(() => readLicense('/proc/self/mem', DURING))).to.equal(
        'License file /proc/self/mem cannot be read: input/output error',
      ));
    it('is a folder', () => {
      mkdirSync(inFolder('license.json'));
      expect(refusal(() => readLicense(inFolder('license.json'), DURING))).to.equal(
        `${place()} is a folder, needed: a regular file`,
      );
    });
    it('is a pipe that nobody writes to', () => {
      execFileSync('mkfifo', [inFolder('license.json')]);
      expect(refusal(() => readLicense(inFolder('license.json'), DURING))).to.equal(
        `${place()} is a pipe, needed: a regular file`,
      );
    });
    it('has a byte more than 65536', () => {
      const text = signedLicense();
      expect(read(text.padEnd(text.length + 65_536 - Buffer.byteLength(text))).standing).to.equal(
        'valid',
      );
      expect(
        refusal(() => read(text.padEnd(text.length + 65_537 - Buffer.byteLength(text)))),
      ).to.equal(`${place()} is larger than 64 KiB, which is the limit`);
    });
    it('is not UTF-8', () =>
      expect(refusal(() => read(Buffer.from(signedLicense(), 'latin1')))).to.match(
        /^License file \S+license\.json:1:\d+ has bytes that are not UTF-8 text$/,
      ));
  });
});
