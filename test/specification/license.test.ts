import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { shows } from './shows.js';
import { needsPrograms } from '../support/needs.js';

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
  const isRefused = async (exporter: Running, reason: RegExp): Promise<void> => {
    expect(await exporter.ended).to.deep.equal({ status: 3, signal: null });
    expect(exporter.stderr).to.match(/^shm_exporter: [^\n]+\n$/);
    expect(exporter.stderr).to.match(reason);
    expect(exporter.stdout).to.equal('');
  };

  const tampered = () => {
    const path = programs.issue('tampered.json', -1, 47);
    writeFileSync(path, readFileSync(path, 'utf8').replace('"T"', '"U"'));
    return path;
  };

  shows(['1.2', '7.2'], () => {
    it('a modified license makes the start fail with status 3 and one line on stderr', () =>
      isRefused(start(tampered()), /bad signature/));
  });

  shows(['1.2', '2.1 license_file', '5.1'], () => {
    it('license_file is empty by default, and the start fails without a license', () =>
      isRefused(programs.start('exporter'), /No license file is configured/));
  });

  shows(['1.2', '8 license grace period'], () => {
    it('half an hour after the grace period, the start fails with status 3', () =>
      isRefused(start(expired('over.json', 36.5)), /its grace period of 36 h ended at/));
  });

  it('makes the start fail with status 6 if the clock shows a time before the issue date', async () => {
    const exporter = programs.exporter({ license_file: programs.issue('early.json', 1, 47) });
    expect(await exporter.ended).to.deep.equal({ status: 6, signal: null });
    expect(exporter.stderr).to.match(
      /^shm_exporter: \S+: license_file \(--license-file\): .* is not valid before .*\n$/,
    );
  });

  shows('2.1 license_file', () => {
    it('a valid license is accepted without a warning', async () =>
      expect(await isAccepted(programs.license)).not.to.contain('warning license'));
  });

  shows(['5.1', '8 license grace period'], () => {
    it('half an hour before the end of the grace period, a license is accepted with a warning about the remaining hours', async () =>
      expect(await isAccepted(expired('late.json', 35.5))).to.match(
        / warning license_file \(--license-file\): license \S+ expired at \S+; the grace period ends in 1 h\n/,
      ));
  });

  shows('7.2', () => {
    it('an exporter without a valid license opens no shared memory, as a trace of system calls shows', async function () {
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

      // With a valid license, the trace shows the open segment. So its absence above means that none was
      // opened.
      const valid = traced('valid.trace', programs.license);
      await valid.line(/ ready: /);
      expect(opened('valid.trace').join('\n')).to.contain(segment());
      await valid.stop();
    });
  });
});
