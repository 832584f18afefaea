import { expect } from 'chai';
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { testPrograms } from '../support/processes.js';
import { signedLicense } from '../license/signed-license.js';
import { shows } from './shows.js';
import { needs, needsPrograms } from '../support/needs.js';

const HOUR_MS = 3_600_000;
const iso = (hours: number) =>
  `${new Date(Date.now() + hours * HOUR_MS).toISOString().slice(0, 19)}Z`;

describe('the license at startup', function () {
  this.slow(3000);
  const programs = testPrograms();
  const expired = (name: string, hoursAgo: number) => programs.issue(name, -100, -hoursAgo);
  const start = (license: string) =>
    programs.exporter({ app: 'shop', server_keys: ['1'], license_file: license });
  const segment = () => `/dev/shm/${programs.contextId}.pool.1`;

  before(() =>
    programs.publish({
      server_key: '1',
      objects: [{ id: 'h.1.shop', class: 'Shop', variables: { a: { type: 'u64', value: 1 } } }],
    }),
  );

  const isAccepted = async (license: string): Promise<string> => {
    const exporter = start(license);
    await exporter.line(/ ready: /);
    expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });
    return exporter.stderr;
  };
  const isRefused = async (license: string, reason: RegExp): Promise<void> => {
    const exporter = start(license);
    expect(await exporter.ended).to.deep.equal({ status: 3, signal: null });
    expect(exporter.stderr).to.match(/^shm_exporter: [^\n]+\n$/);
    expect(exporter.stderr).to.match(reason);
    expect(exporter.stdout).to.equal('');
  };
  const GRACE_OVER = /its grace of 36 h ended at/;

  const tampered = () => {
    const path = programs.issue('tampered.json', -1, 47);
    writeFileSync(path, readFileSync(path, 'utf8').replace('"T"', '"U"'));
    return path;
  };
  const wrongProduct = () =>
    programs.write(
      'product.json',
      signedLicense({ product: 'other', issued_at: iso(-1), expires_at: iso(24) }),
    );
  const refused: readonly (readonly [string, () => string, RegExp])[] = [
    ['expired 37 h ago', () => expired('expired.json', 37), GRACE_OVER],
    ['changed', tampered, /bad signature/],
    [
      'not there',
      () => programs.path('none.json'),
      /none\.json cannot be read: no such file or folder/,
    ],
    ['not configured', () => '', /No license file is configured/],
    ['for another product', wrongProduct, /product/],
    ['not JSON', () => programs.write('text.json', 'license'), /is not JSON/],
  ];

  shows('1.2', () => {
    for (const [what, license, reason] of refused)
      it(`ends the start with status 3 and one line when the license is ${what}`, () =>
        isRefused(license(), reason));
  });

  it('ends the start with a separate status when the clock is before the issue of the license', async () => {
    const exporter = programs.exporter({ license_file: programs.issue('early.json', 1, 47) });
    expect(await exporter.ended).to.deep.equal({ status: 6, signal: null });
    expect(exporter.stderr).to.match(
      /^shm_exporter: \S+: license_file \(--license-file\): .* is not valid before .*\n$/,
    );
  });

  shows('2.1 license_file', () => {
    it('is accepted without a warning when it is valid', async () =>
      expect(await isAccepted(programs.license)).not.to.contain('warning license'));

    it('is empty by default, and the start fails without a license', async () => {
      const exporter = programs.start('exporter', ['--enable-metrics-http', '--metrics-port', '0']);
      expect(await exporter.ended).to.deep.equal({ status: 3, signal: null });
      expect(exporter.stderr).to.contain('No license file is configured');
    });
  });

  shows('5.1', () => {
    it('accepts a license 35 h after its expiry, with a warning about the remaining hours', async () =>
      expect(await isAccepted(expired('grace.json', 35))).to.match(
        / warning license_file \(--license-file\): license \S+ expired at \S+; grace ends in 1 h\n/,
      ));

    it('a start without a license fails', () => isRefused('', /No license file is configured/));
  });

  shows('8 license grace period', () => {
    it('still applies half an hour before its end', async () =>
      expect(await isAccepted(expired('late.json', 35.5))).to.contain('warning license'));

    it('is over half an hour after its end', () =>
      isRefused(expired('over.json', 36.5), GRACE_OVER));
  });

  shows('7.2', () => {
    it('prints the reason to stderr, and nothing to stdout', () =>
      isRefused(tampered(), /bad signature/));

    it('opens no shared memory, as a trace of system calls shows', async function () {
      needsPrograms(this, 'strace');
      const traced = (name: string, license: string) => {
        const under = [
          'strace',
          '-D',
          '-f',
          '-qq',
          '-e',
          'trace=open,openat',
          '-o',
          programs.path(name),
        ];
        const config = programs.config({ app: 'shop', server_keys: ['1'], license_file: license });
        return programs.start('exporter', ['--config', config], { under });
      };
      const opened = (name: string) =>
        readFileSync(programs.path(name), 'utf8')
          .split('\n')
          .filter((line) => line.includes('/dev/shm'));
      const stopped = traced('refused.trace', tampered());
      expect((await stopped.ended).status).to.equal(3);
      expect(readFileSync(programs.path('refused.trace'), 'utf8')).to.contain('tampered.json');
      expect(opened('refused.trace')).to.deep.equal([]);

      // The trace would show it.
      const valid = traced('valid.trace', programs.license);
      await valid.line(/ ready: /);
      expect(opened('valid.trace').join('\n')).to.contain(segment());
      await valid.stop();
    });

    it('reads no byte of a segment, as its access time shows', async function () {
      const past = new Date(0);
      const seenBy = async (license: string, isDone: RegExp) => {
        utimesSync(segment(), past, new Date());
        const exporter = start(license);
        await exporter.line(isDone);
        await exporter.stop();
        return statSync(segment()).atimeMs !== past.getTime();
      };
      // Without access times in the file system, the test cannot decide.
      const keepsTimes = await seenBy(programs.license, / ready: /);
      needs(this, keepsTimes, 'the file system keeps no access times');
      // Another test may read the segment in the meantime. The exporter would read it in every attempt.
      let isSeen = true;
      for (let attempt = 0; attempt < 12 && isSeen; attempt++)
        isSeen = await seenBy(tampered(), /bad signature/);
      expect(isSeen).to.be.false;
    });
  });
});
