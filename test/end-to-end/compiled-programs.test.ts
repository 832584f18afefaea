// What V8 keeps of the programs is of use to them.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, theatre } from '../support/processes.js';

const BIN = join(PROJECT, 'dist/bin');
const LAUNCHED_WITH = ['--v8-pool-size=1'];

/** Prints whether V8 refuses what is kept of a program. */
const ASK = `
  const [{ readFileSync }, { Script }] = [require('node:fs'), require('node:vm')];
  const [filename, cache] = process.argv.slice(1);
  const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData: readFileSync(cache) });
  process.stdout.write(String(script.cachedDataRejected));`;

describe('the programs as they were compiled', () => {
  const stage = theatre();
  const names = readdirSync(BIN)
    .filter((file) => file.endsWith('.cache'))
    .map((file) => file.replace('.cache', ''));

  it('are all kept', () =>
    expect(names).to.have.members(['bridge', 'dump', 'exporter', 'license', 'simulator']));

  for (const name of names) {
    it(`are taken by V8: ${name}`, () => {
      const words = [
        ...LAUNCHED_WITH,
        '-e',
        ASK,
        join(BIN, `${name}.js`),
        join(BIN, `${name}.cache`),
      ];
      const env = { ...process.env, NODE_OPTIONS: '' };
      const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env });
      expect(stdout, stderr).to.equal('false');
    });

    it(`can be executed: ${name}`, () => {
      const program = join(BIN, `shm_${name}.js`);
      const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
      expect(stdout).to.match(/^\d+\.\d+\.\d+\n$/);
    });

    it(`have one byte for each character: ${name}`, () =>
      expect(readFileSync(join(BIN, `${name}.js`), 'latin1')).to.match(/^[\0-\x7f]*$/));
  }

  it('are launched in one process, with one thread of V8', async () => {
    const program = join(BIN, 'shm_simulator.js');
    const words = ['--context-id', stage.contextId, '--app', 'ads', '--server-key', '1'];
    const running = stage.command([program, ...words]);
    await running.line(/^ready$/m);
    const line = readFileSync(`/proc/${running.pid}/cmdline`, 'utf8').split('\0');
    expect(line.slice(0, -1)).to.deep.equal(['node', ...LAUNCHED_WITH, program, ...words]);
  });

  it('read what their modules read: a time in microseconds', () => {
    const check = (interval: string) => {
      stage.write('web.yml', `rate_limit: {burst: 1, interval: ${interval}}\n`);
      const config = stage.config({ web_config_file: 'web.yml' });
      return stage.run('exporter', '--config', config, '--check-config');
    };
    const { status, stderr } = check('10\u00b5s');
    expect(status, stderr).to.equal(0);
    expect(check('10\u00b6s').stderr).to.match(/web\.yml:1:\d+: rate_limit\.interval: found/);
  });
});
