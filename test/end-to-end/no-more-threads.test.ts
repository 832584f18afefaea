// A process limit under which the exporter cannot start further threads.
import { spawnSync } from 'node:child_process';
import { hashSync } from 'bcryptjs';
import { expect } from 'chai';
import { inBothModes } from '../support/modes.js';
import { needsPrograms, needsRoot } from '../support/needs.js';
import { waitFor, testPrograms } from '../support/processes.js';
import { readyPage, unready } from './page.js';

/** Runs as a user without other processes, since the limit does not apply to root. */
const USER = String(1_000_000_000 + process.pid);
const AS_USER = [
  ...['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'],
  ...['--inh-caps=+dac_override', '--ambient-caps=+dac_override'],
];
const user = (name: string) => `  ${name}: ${hashSync(name, 4)}\n`;
const as = (name: string) => ({
  headers: { Authorization: `Basic ${Buffer.from(`${name}:${name}`).toString('base64')}` },
});

/** The number of threads of an idle Node.js process. */
const ownThreads = (): number => {
  const code = "console.log(require('fs').readdirSync('/proc/self/task').length)";
  return Number(spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' }).stdout);
};

inBothModes('an exporter with a process limit', function (mode) {
  this.slow(5000);
  const programs = testPrograms();
  before(function () {
    needsRoot(this);
    needsPrograms(this, 'setpriv', 'prlimit');
  });
  const publish = (key = '1') =>
    programs.simulate('--app', 'ads', '--server-key', key, '--objects', '3');
  const start = (under: readonly string[], settings: Readonly<Record<string, unknown>> = {}) => {
    const target = { app: 'ads', server_keys: ['1'], worker_execution_mode: mode };
    const config = programs.config({ ...target, ...settings });
    const args = ['--config', config];
    return programs.start('exporter', args, { under: [...AS_USER, ...under] });
  };
  /** Sets the limit of a process so that it gets no further threads. */
  const limit = ({ pid }: { readonly pid: number }) => {
    const { status } = spawnSync('setpriv', [
      ...[`--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'],
      ...['prlimit', `--pid=${pid}`, '--nproc=1:1'],
    ]);
    expect(status).to.equal(0);
  };

  it('ends with status 4 and one line on stderr if it reaches the limit during the start', async () => {
    const exporter = start(['prlimit', `--nproc=${ownThreads() + 2}`]);
    expect(await exporter.ended).to.deep.equal({ status: 4, signal: null });
    expect(exporter.stderr).to.match(
      /^shm_exporter: the system refuses 4 more threads \(EAGAIN\): raise the limit of processes .*\n$/,
    );
  });

  it('still serves a restarted publisher, and ends normally, if it reaches the limit after the start', async () => {
    const first = publish();
    const exporter = start([]);
    const url = await exporter.url();
    await readyPage(url);
    limit(exporter);
    first.close();
    await unready(url, /./);
    const second = publish();
    await readyPage(url);
    second.close();
    expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });
  });

  it('compares passwords in an existing thread, or answers 503 if no such thread exists', async () => {
    publish('2');
    programs.write('users.yml', `basic_auth_users:\n${user('alice')}${user('bob')}`);
    const known = start([], { server_keys: ['2'], web_config_file: 'users.yml' });
    const knownUrl = await known.url();
    limit(known);
    await waitFor('bob is let in', async () =>
      (await fetch(knownUrl, as('bob'))).status === 200 ? true : undefined,
    );
    await known.stop();

    programs.write('none.yml', '');
    const late = start([], { server_keys: ['2'], web_config_file: 'none.yml' });
    const lateUrl = await late.url();
    await readyPage(lateUrl);
    limit(late);
    programs.write('none.yml', `basic_auth_users:\n${user('alice')}`);
    const answer = await waitFor('passwords cannot be compared', async () => {
      const { status, headers, text } = await fetch(lateUrl, as('alice')).then(async (got) => ({
        ...{ status: got.status, headers: got.headers },
        text: await got.text(),
      }));
      return status === 200 ? undefined : [status, headers.get('retry-after'), text];
    });
    expect(answer).to.deep.equal([
      ...[503, '1', 'passwords cannot be compared now: the log has the reason\n'],
    ]);
    await late.line(
      /warning requests with new passwords get 503: no thread can be started .*EAGAIN: raise the limit/,
    );
    await late.stop();
  });
});
