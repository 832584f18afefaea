import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { issueLicense, writeLicense } from '#app/license/issue-license.js';
import { formatUtc, parseDocument } from '#app/license/license-document.js';
import { COMMANDS, KEYGEN, PROGRAM, VERIFY } from '#app/license/options.js';
import { chooseCommand, readCommandLine } from '#app/rules/command-line.js';
import { faultOf } from './fault-of.js';
import { temporaryFolder } from './temporary-folder.js';

const COMMAND = fileURLToPath(new URL('../../dist/bin/shm_license.js', import.meta.url));
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const started = Math.floor(Date.now() / 1000) * 1000;
const hoursAgo = (hours: number) => formatUtc(new Date(started - hours * HOUR_MS));

describe('shm_license', function () {
  this.slow(1000);
  const inFolder = temporaryFolder();
  const file = () => inFolder('license.json');

  function run(...args: readonly string[]) {
    const { status, stdout, stderr } = spawnSync(COMMAND, args, { encoding: 'utf8' });
    return { status, stdout, stderr };
  }
  const issue = (...more: readonly string[]) =>
    run('issue', '--licensee', 'Exchange West', '--out', file(), ...more);
  /** Writes a license in this process. Its term began `fromHours` ago and ended `toHours` ago. */
  const write = (fromHours: number, toHours: number) => {
    const at = (hours: number) => new Date(started - hours * HOUR_MS);
    const term = { issuedAt: at(fromHours), expiresAt: at(toHours) };
    writeLicense(file(), issueLicense({ licensee: 'Exchange West', ...term }));
  };
  const fields = () => parseDocument(readFileSync(file(), 'utf8'), 'It');

  it('issues an evaluation license, which the commands "verify" and "show" accept', () => {
    const issued = issue('--days', '31');
    const { license_id: id, issued_at, expires_at, signature, ...rest } = fields();
    expect(issued).to.deep.equal({
      status: 0,
      stdout: `${file()}: license ${id} for Exchange West, expires at ${expires_at}\n`,
      stderr: '',
    });
    expect(rest).to.deep.equal({
      licensee: 'Exchange West',
      product: 'shm_exporter',
      key_id: 'evaluation',
    });
    expect(Date.parse(expires_at) - Date.parse(issued_at)).to.equal(31 * DAY_MS);
    expect(Date.now() - Date.parse(issued_at)).to.be.within(0, 60_000);
    expect(statSync(file()).mode & 0o777).to.equal(0o600);

    expect(run('verify', file())).to.deep.equal({
      status: 0,
      stdout: `license ${id} for Exchange West is valid until ${expires_at}\n`,
      stderr: '',
    });
    expect(run('show', file())).to.deep.equal({
      status: 0,
      stdout:
        `license_id  ${id}\nlicensee    Exchange West\nproduct     shm_exporter\n` +
        `issued_at   ${issued_at}\nexpires_at  ${expires_at}\nkey_id      evaluation\n` +
        `signature   ${signature}\nstate       valid\n`,
      stderr: '',
    });
  });

  it('verifies a license in its grace period, with a warning', () => {
    const end = hoursAgo(24);
    write(100, 24);
    const warning = `license ${fields().license_id} expired at ${end}; the grace period ends in 12 h`;
    expect(run('verify', file())).to.deep.equal({ status: 0, stdout: `${warning}\n`, stderr: '' });
    expect(run('show', file()).stdout).to.match(new RegExp(`\nstate {7}grace: ${warning}\n$`));
  });

  it('warns when it issues an expired license, which "verify" refuses with status 3 and "show" prints', () => {
    const issued = issue('--issued-at', hoursAgo(100), '--expires-at', hoursAgo(37));
    const { license_id, expires_at } = fields();
    expect(issued).to.deep.equal({
      status: 0,
      stdout: `${file()}: license ${license_id} for Exchange West, expires at ${expires_at} (has expired)\n`,
      stderr: '',
    });
    const verified = run('verify', file());
    expect(verified).to.include({ status: 3, stdout: '' });
    expect(verified.stderr).to.equal(
      `shm_license: License file ${file()}: license ${license_id} expired at ${expires_at}; ` +
        `its grace period of 36 h ended at ${hoursAgo(1)}\n`,
    );
    const shown = run('show', file());
    expect(shown).to.include({ status: 0, stderr: '' });
    expect(shown.stdout).to.contain(`\nstate       refused: License file ${file()}: license`);
  });

  it('refuses a modified license with status 3', () => {
    write(1, -72);
    writeFileSync(file(), readFileSync(file(), 'utf8').replace('West', 'East'));
    expect(run('verify', file())).to.deep.equal({
      status: 3,
      stdout: '',
      stderr:
        `shm_license: License file ${file()} has a bad signature: the license was changed after it was issued, ` +
        'or the key "evaluation" did not sign it\n',
    });
  });

  it('creates a key pair, and trusts licenses signed with it only if its public key is in the folder of --keys-dir', () => {
    expect(run('keygen', '--out-dir', inFolder('keys'), '--name', 'not-shipped')).to.deep.equal({
      status: 0,
      stdout: `${inFolder('keys/not-shipped.key.pem')}\n${inFolder('keys/not-shipped.pub.pem')}\n`,
      stderr: '',
    });
    const key = inFolder('keys/not-shipped.key.pem');
    expect(issue('--days', '3650', '--key', key).status).to.equal(0);
    expect(fields().key_id).to.equal('not-shipped');
    const { status, stdout, stderr } = run('verify', file());
    expect({ status, stdout }).to.deep.equal({ status: 3, stdout: '' });
    expect(stderr).to.match(/ names the unknown key "not-shipped"; the trusted keys are: .+\n$/);

    const keysDir = ['--keys-dir', inFolder('keys')];
    expect(run('verify', ...keysDir, file())).to.include({ status: 0, stderr: '' });
    expect(run('show', ...keysDir, file()).stdout).to.match(/\nstate {7}valid\n$/);
  });

  it('gives a key pair the name "vendor" by default', () =>
    expect(readCommandLine(KEYGEN, ['--out-dir', 'keys'], '1')).to.deep.include({
      options: { outDir: 'keys', name: 'vendor' },
    }));

  it('refuses a command line without a command, or with two files', () => {
    const misuse = (sentence: string) => ({ code: 'USAGE', message: sentence });
    const choose = () => chooseCommand(PROGRAM, Object.keys(COMMANDS), [], '1');
    const needed = 'needed: a command: issue, show, verify, keygen; see --help';
    expect(faultOf(choose)).to.deep.equal(misuse(`found nothing, ${needed}`));
    expect(faultOf(() => readCommandLine(VERIFY, ['a', 'b'], '1'))).to.deep.equal(
      misuse('found "b", allowed: only options and one <file>; see --help'),
    );
  });

  it('exits with status 2 and one line if the command line gives neither the days nor the end of a license', () =>
    expect(issue()).to.deep.equal({
      status: 2,
      stdout: '',
      stderr: 'shm_license: found neither --days nor --expires-at, needed: one of them\n',
    }));

  it('prints its usage to stdout with --help', () => {
    const help = run('issue', '--help');
    expect(help).to.include({ status: 0, stderr: '' });
    expect(help.stdout).to.match(
      /^Usage: shm_license issue --licensee <name> --out <file> \[options\]\n/,
    );
  });
});
