import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { statusOf } from '#app/license/license.js';
import type { License } from '#app/license/license.js';
import { loadLicense, readLicense, watchLicense } from '#app/license/license-watch.js';
import { marbles } from '../support/marbles.js';
import { faultOf } from './fault-of.js';
import { FIELDS, signedLicense } from './signed-license.js';
import { temporaryFolder } from './temporary-folder.js';

const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(hours * HOUR_MS);

/** A license from 1970, the start of virtual time. It expires two hours later. */
const known: License = {
  id: 'old',
  licensee: 'A',
  keyId: 'vendor',
  issuedAt: at(-1),
  expiresAt: at(2),
};
const renewed: License = { ...known, id: 'new', expiresAt: at(1000) };
const keep = () => known;
const lose = () => {
  throw new Error('License file l.json cannot be read: no such file or folder');
};
const warned = (hour: number, warning: string) => ({ ...statusOf(known, at(hour)), warning });
const lost = (hour: number) => ({
  ...warned(
    hour,
    'License file l.json cannot be read: no such file or folder; the exporter would not start now',
  ),
  state: 'invalid',
});
const VALID = statusOf(known, at(0));

/** Creates a load function that runs the given functions in turn, and then always the last one. */
function loader(...loads: readonly [() => License, ...(() => License)[]]) {
  let calls = 0;
  const load = () => (loads[Math.min(calls++, loads.length - 1)] ?? loads[0])();
  return { load, calls: () => calls };
}

describe('watchLicense', () => {
  it(
    'emits the status of the license at once, and again only after a change',
    marbles(({ expectObservable, flush }) => {
      const { load, calls } = loader(keep);
      const unsubscribed = '119s !';
      expectObservable(watchLicense(known, load), unsubscribed).toBe('v', { v: VALID });
      flush();
      expect(calls()).to.equal(1);
    }),
  );

  it(
    'warns of the hours left in the grace period, and of the expired license after it (spec 5.1)',
    marbles(({ expectObservable }) => {
      const report$ = watchLicense(known, keep, 12 * HOUR_MS);
      const reports = '    v 719m 59s 999ms a 719m 59s 999ms b 719m 59s 999ms c 719m 59s 999ms d';
      const unsubscribed = '6000m !';
      expectObservable(report$, unsubscribed).toBe(reports, {
        v: VALID,
        a: warned(12, 'license old expired at 1970-01-01T02:00:00Z; the grace period ends in 26 h'),
        b: warned(24, 'license old expired at 1970-01-01T02:00:00Z; the grace period ends in 14 h'),
        c: warned(36, 'license old expired at 1970-01-01T02:00:00Z; the grace period ends in 2 h'),
        d: warned(
          48,
          'license old expired at 1970-01-01T02:00:00Z; ' +
            'its grace period of 36 h ended at 1970-01-02T14:00:00Z; the exporter would not start now',
        ),
      });
    }),
  );

  it(
    'warns once of a removed file, and clears the warning when the file returns',
    marbles(({ expectObservable }) => {
      const { load } = loader(lose, lose, keep);
      const reports = '     v 999ms w 1s 999ms v';
      const unsubscribed = '1m !';
      expectObservable(watchLicense(known, load, 1000), unsubscribed).toBe(reports, {
        v: VALID,
        w: lost(0),
      });
    }),
  );

  it(
    'emits no further warning while the file is missing, even when the license read before expires',
    marbles(({ expectObservable }) => {
      const reports = '     v 59s 999ms w';
      const unsubscribed = '1000m !';
      expectObservable(watchLicense(known, lose), unsubscribed).toBe(reports, {
        v: VALID,
        w: lost(1 / 60),
      });
    }),
  );

  it(
    'uses a renewed license within a minute',
    marbles(({ expectObservable }) => {
      const { load } = loader(() => renewed);
      const reports = '     v 59s 999ms n';
      const unsubscribed = '90s !';
      expectObservable(watchLicense(known, load), unsubscribed).toBe(reports, {
        v: VALID,
        n: statusOf(renewed, at(1 / 60)),
      });
    }),
  );

  it(
    'warns of a renewed license that is not valid yet',
    marbles(({ expectObservable }) => {
      const early = { ...renewed, issuedAt: at(900) };
      const reports = '     v 999ms e';
      const unsubscribed = '1m !';
      expectObservable(
        watchLicense(known, () => early, 1000),
        unsubscribed,
      ).toBe(reports, {
        v: VALID,
        e: {
          ...statusOf(early, at(0)),
          warning:
            'license new is not valid before 1970-02-07T12:00:00Z; the exporter would not start now',
        },
      });
    }),
  );

  it(
    'stops its checks on unsubscription',
    marbles(({ expectObservable, flush }) => {
      const { load, calls } = loader(keep);
      const unsubscribed = '2s 500ms !';
      expectObservable(watchLicense(known, load, 1000), unsubscribed).toBe('v', { v: VALID });
      flush();
      expect(calls()).to.equal(2);
    }),
  );
});

const DURING = new Date('2026-01-15T00:00:00Z');
const vendor = generateKeyPairSync('ed25519');

describe('The license at startup', () => {
  const inFolder = temporaryFolder();
  const place = () => `License file ${inFolder('license.json')}`;

  function read(content: string, now = DURING, keys?: Parameters<typeof readLicense>[2]) {
    writeFileSync(inFolder('license.json'), content);
    return readLicense(inFolder('license.json'), now, keys);
  }

  /** Returns the message of the refusal that `act` throws. */
  function refusal(act: () => unknown): string {
    const { code, message } = faultOf(act);
    expect(code).to.equal('LICENSE_REJECTED');
    return message;
  }

  it('is accepted without a warning during its term (spec 1.2)', () =>
    expect(read(signedLicense())).to.deep.equal({
      license: {
        id: 'L-1',
        licensee: FIELDS.licensee,
        keyId: 'evaluation',
        issuedAt: new Date('2026-01-01T00:00:00Z'),
        expiresAt: new Date('2026-02-01T00:00:00Z'),
      },
      state: 'valid',
      warning: '',
      expirySeconds: 1_769_904_000,
    }));

  it('is accepted with a signature of openssl', () => {
    const golden =
      '{"license_id":"L-1","licensee":"Golden","product":"shm_exporter",' +
      '"issued_at":"2026-01-01T00:00:00Z","expires_at":"2026-02-01T00:00:00Z","key_id":"evaluation",' +
      '"signature":"DY4jcVWxh9D58zW8YyMPZ9Itcbua2yB/PI66/zu1MqB0DueZaYFeePY+EdpzlSi1zmYa4Hu190fL5eL1yRgyAw=="}';
    expect(read(golden).license.licensee).to.equal('Golden');
  });

  it('may have any layout and order of fields, and a byte order mark', () => {
    const reversed = Object.fromEntries(
      Object.entries(JSON.parse(signedLicense()) as object).reverse(),
    );
    expect(read(`\ufeff${JSON.stringify(reversed, null, '\t')}\r\n`).state).to.equal('valid');
  });

  it('may last longer than 31 days if another trusted key signed it', () => {
    const fields = { key_id: 'vendor', expires_at: '2036-01-01T00:00:00Z' };
    const keys = new Map([['vendor', vendor.publicKey]]);
    expect(read(signedLicense(fields, vendor.privateKey), DURING, keys).state).to.equal('valid');
  });

  describe('(spec 8)', () => {
    const expired = 'license L-1 expired at 2026-02-01T00:00:00Z';
    const moments = [
      ['2026-01-01T00:00:00.000Z', 'valid', ''],
      ['2026-01-31T23:59:59.999Z', 'valid', ''],
      ['2026-02-01T00:00:00.000Z', 'grace', `${expired}; the grace period ends in 36 h`],
      ['2026-02-02T00:00:00.000Z', 'grace', `${expired}; the grace period ends in 12 h`],
      ['2026-02-02T11:00:00.001Z', 'grace', `${expired}; the grace period ends in 1 h`],
      ['2026-02-02T12:00:00.000Z', 'grace', `${expired}; the grace period ends in 0 h`],
    ] as const;
    for (const [now, state, warning] of moments)
      it(`is ${state === 'grace' ? 'in its grace period' : state} at ${now}${warning && ` with the warning: ${warning}`}`, () =>
        expect(read(signedLicense(), new Date(now))).to.include({ state, warning }));

    it('is refused before its term with the special exit status 6, because the clock may be wrong', () => {
      const early = faultOf(() => read(signedLicense(), new Date('2025-12-31T23:59:59.999Z')));
      expect(early.code).to.equal('LICENSE_EARLY');
      expect(early.message).to.equal(
        `${place()}: license L-1 is not valid before 2026-01-01T00:00:00Z; the clock of this host ` +
          'says 2025-12-31T23:59:59.999Z: if that is wrong, set the clock and start again',
      );
    });

    it('is refused after its grace period', () =>
      expect(refusal(() => read(signedLicense(), new Date('2026-02-02T12:00:00.001Z')))).to.equal(
        `${place()}: ${expired}; its grace period of 36 h ended at 2026-02-02T12:00:00Z`,
      ));

    it('is loaded without a check of its term if its signature is valid', () => {
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
    it('has more than 65536 bytes', () => {
      const text = signedLicense();
      expect(read(text.padEnd(text.length + 65_536 - Buffer.byteLength(text))).state).to.equal(
        'valid',
      );
      expect(
        refusal(() => read(text.padEnd(text.length + 65_537 - Buffer.byteLength(text)))),
      ).to.equal(`${place()} is larger than the limit of 64 KiB`);
    });
  });
});
