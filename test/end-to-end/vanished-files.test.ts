// Tests that the exporter reads its program files only once. These files and the exporter's working
// directory may be removed while it runs.
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { expect } from 'chai';
import { SPECIFIED_MODE as mode } from '../support/modes.js';
import { PROJECT, waitFor, testPrograms } from '../support/processes.js';
import type { Running, TestPrograms } from '../support/processes.js';
import { readyPage } from './page.js';

const isNeeded = (path: string) => !path.endsWith('.map');
const PROGRAM_FILES = /\.(js|cjs|cache|wasm|toml|values|pem)$/;

/** The files that the bundled program reads. */
const PARTS = [
  ...['package.json', 'dist/bin', 'dist/catalogue', 'dist/license/keys'],
  'dist/exposition/wasm/kernel.wasm',
];

/** Installs a copy of the program. */
function installed(programs: TestPrograms, name: string) {
  const folder = programs.path(name);
  for (const each of PARTS)
    cpSync(join(PROJECT, each), join(folder, each), { recursive: true, filter: isNeeded });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  const files = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' });
  return {
    start: (cwd: string, ...args: readonly string[]): Running => {
      const program = join(folder, 'dist/bin/shm_exporter.js');
      return programs.command([process.execPath, program, ...args], { under: ['env', '-C', cwd] });
    },
    /** Overwrites the program files, as an upgrade to another version may do. */
    replace: () => {
      for (const each of files)
        if (PROGRAM_FILES.test(each)) writeFileSync(join(folder, 'dist', each), 'another version');
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

const as = (name: string) => ({
  headers: { Authorization: `Basic ${Buffer.from(`${name}:${name}`).toString('base64')}` },
});
const user = (name: string) => `  ${name}: ${hashSync(name, 4)}\n`;
const target = (key: string) => `[[targets]]\napp = "ads"\nserver_key = "${key}"\n`;

describe('the files of a running exporter', function () {
  this.slow(8000);
  const programs = testPrograms();
  before(() => {
    for (const key of ['1', '2', '3'])
      programs.simulate('--app', 'ads', '--server-key', key, '--objects', '3');
  });

  const settings = (more: Readonly<Record<string, unknown>> = {}) =>
    programs.settings({
      worker_execution_mode: mode,
      target_workers: 3,
      http_reload_enabled: true,
      ...more,
    });

  for (const fate of ['replace', 'remove'] as const)
    it(`may be ${fate}d: passwords are still compared, and new targets and users are accepted`, async () => {
      const program = installed(programs, `installed-${fate}`);
      const web = (...users: readonly string[]) =>
        programs.write('web.yml', `basic_auth_users:\n${users.map(user).join('')}`);
      web('alice', 'bob');
      const withWeb = settings({ web_config_file: 'web.yml' });
      const config = programs.write('exporter.toml', withWeb + target('1'));
      const exporter = program.start('/', '--config', config);
      const url = await exporter.url();
      const status = async (path: string, name: string, method = 'GET') =>
        (await fetch(new URL(path, url), { method, ...as(name) })).status;
      await waitFor('the first target is ready', async () =>
        (await status('/metrics', 'alice')) === 200 ? true : undefined,
      );
      program[fate]();
      expect(await status('/metrics', 'bob')).to.equal(200);
      programs.write('exporter.toml', withWeb + target('1') + target('2') + target('3'));
      web('alice', 'carol');
      expect(await status('/-/reload', 'alice', 'POST')).to.equal(200);
      for (const key of ['1', '2', '3'])
        await waitFor(`carol gets target ${key}`, async () =>
          (await status(`/metrics?server_key=${key}`, 'carol')) === 200 ? true : undefined,
        );
      expect((await exporter.stop()).status).to.equal(0);
    });

  it('are found relative to the first working directory of the exporter, even after this directory is removed', async () => {
    const folder = programs.path('started-in');
    mkdirSync(folder);
    programs.write('beside.yml', `basic_auth_users:\n${user('alice')}${user('bob')}`);
    const named = { web_config_file: 'beside.yml', license_file: 'license.json' };
    programs.issue('license.json', -1, 47);
    const withWeb = settings(named);
    programs.write('beside.toml', withWeb + target('1'));
    const exporter = installed(programs, 'installed-cwd').start(
      folder,
      '--config',
      '../beside.toml',
    );
    const url = await exporter.url();
    const status = async (path: string, name: string, method = 'GET') =>
      (await fetch(new URL(path, url), { method, ...as(name) })).status;
    rmSync(folder, { recursive: true });
    expect(await status('/-/healthy', 'alice')).to.equal(200);
    programs.write('beside.toml', withWeb + target('1') + target('2'));
    programs.write('beside.yml', `basic_auth_users:\n${user('bob')}`);
    expect(await status('/-/reload', 'bob', 'POST')).to.equal(200);
    await waitFor('the new target is ready', async () =>
      (await status('/metrics?server_key=2', 'bob')) === 200 ? true : undefined,
    );
    await exporter.stop();
  });
});

describe('an exporter whose files were removed', function () {
  this.slow(8000);
  const programs = testPrograms();
  before(() => programs.simulate('--app', 'ads', '--server-key', '1', '--objects', '3'));

  it('checks the web configuration and the license that a reloaded configuration names', async () => {
    const program = installed(programs, 'installed-reload');
    const one = { http_reload_enabled: true, app: 'ads', server_keys: ['1'] };
    const config = programs.write('plain.toml', programs.settings(one));
    const exporter = program.start('/', '--config', config);
    const url = await exporter.url();
    await readyPage(url);
    program.remove();
    programs.write('later.yml', `basic_auth_users:\n${user('alice')}`);
    programs.issue('later.json', -1, 47);
    const later = { web_config_file: 'later.yml', license_file: 'later.json' };
    programs.write('plain.toml', programs.settings({ ...one, ...later }));
    const answer = await fetch(new URL('/-/reload', url), { method: 'POST' });
    expect([answer.status, await answer.text()]).to.deep.equal([
      200,
      'configuration reloaded\nweb_config_file changed: the change takes effect at the next start\nlicense_file changed: the change takes effect at the next start\n',
    ]);
    await exporter.stop();
  });
});

describe('an exporter in a removed working directory', function () {
  this.slow(8000);
  const programs = testPrograms();
  before(() => programs.simulate('--app', 'ads', '--server-key', '1', '--objects', '3'));

  it('serves if its paths are absolute', async () => {
    const folder = programs.path('gone');
    mkdirSync(folder);
    const config = programs.config({
      app: 'ads',
      server_keys: ['1'],
      worker_execution_mode: mode,
    });
    const words = [process.execPath, join(PROJECT, 'dist/bin/shm_exporter.js')];
    const inFolder = ['sh', '-c', 'cd "$0" && rmdir "$0" && exec "$@"', folder];
    const exporter = programs.command([...words, '--config', config], { under: inFolder });
    await readyPage(await exporter.url());
    await exporter.stop();
  });
});
