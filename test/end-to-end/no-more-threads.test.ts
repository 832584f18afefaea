// Tests an exporter that cannot start more threads because of a process limit.
import { spawnSync } from 'node:child_process';
import { hashSync } from 'bcryptjs';
import { expect } from 'chai';
import { SPECIFIED_MODE, inBothModes } from '../support/modes.js';
import { needsPrograms, needsRoot } from '../support/needs.js';
import { waitFor, testPrograms } from '../support/processes.js';
import { readyPage, unready } from './page.js';

/** The exporter runs as a user that has no other processes, because the limit does not apply to root. */
const USER = String(1_000_000_000 + process.pid);
const AS_USER = [
  ...['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'],
  ...['--inh-caps=+dac_override', '--ambient-caps=+dac_override'],
];
const user = (name: string) => `  ${name}: ${hashSync(name, 4)}\n`;
const as = (name: string) => ({
  headers: { Authorization: `Basic ${Buffer.from(`${name}:${name}`).toString('base64')}` },
});

let threads = 0;
/** The number of threads of an idle Node.js process. */
const ownThreads = (): number => {
  const code = "console.log(require('fs').readdirSync('/proc/self/task').length)";
  threads ||= Number(spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' }).stdout);
  return threads;
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
  /** Sets the limit of a process so that it cannot start more threads. */
  const limit = ({ pid }: { readonly pid: number }) => {
    const { status } = spawnSync('setpriv', [
      ...[`--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'],
      ...['prlimit', `--pid=${pid}`, '--nproc=1:1'],
    ]);
    expect(status).to.equal(0);
  };

  it('ends with status 4 and one line on stderr if the limit is too low for the threads of the start', async () => {
    const exporter = start(['prlimit', `--nproc=${ownThreads() + 2}`]);
    expect(await exporter.ended).to.deep.equal({ status: 4, signal: null });
    expect(exporter.stderr).to.match(
      /^shm_exporter: the system refuses 4 more threads \(EAGAIN\): raise the limit on processes .*\n$/,
    );
  });

  it('still serves a restarted publisher if the limit is lowered after the start, and answers 503 to new passwords', async () => {
    programs.write('none.yml', '');
    const first = publish();
    const exporter = start([], { web_config_file: 'none.yml' });
    const url = await exporter.url();
    await readyPage(url);
    limit(exporter);
    first.close();
    await unready(url, /./);
    const second = publish();
    await readyPage(url);

    programs.write('none.yml', `basic_auth_users:\n${user('alice')}`);
    const answer = await waitFor('passwords cannot be checked', async () => {
      const { status, headers, text } = await fetch(url, as('alice')).then(async (got) => ({
        ...{ status: got.status, headers: got.headers },
        text: await got.text(),
      }));
      return status === 200 ? undefined : [status, headers.get('retry-after'), text];
    });
    expect(answer).to.deep.equal([
      ...[503, '1', 'passwords cannot be checked now: the log has the reason\n'],
    ]);
    await exporter.line(
      /warning requests get 503 unless their password was checked before: no thread can be started .*EAGAIN: raise the limit/,
    );
    second.close();
    expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });
  });

  // Test this in one mode only: passwords are compared in the same thread in both modes.
  if (mode === SPECIFIED_MODE)
    it('compares new passwords if the thread for them was started before the limit was lowered', async () => {
      publish('2');
      programs.write('users.yml', `basic_auth_users:\n${user('alice')}${user('bob')}`);
      const exporter = start([], { server_keys: ['2'], web_config_file: 'users.yml' });
      const url = await exporter.url();
      limit(exporter);
      await waitFor('bob is let in', async () =>
        (await fetch(url, as('bob'))).status === 200 ? true : undefined,
      );
      await exporter.stop();
    });
});
