// What V8 keeps of the programs is of use to them.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, theatre } from '../support/processes.js';

const BIN = join(PROJECT, 'dist/bin');

/** Prints whether V8 refuses what is kept of a program. The flags are those of a start. */
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
      const words = ['-e', ASK, join(BIN, `${name}.js`), join(BIN, `${name}.cache`)];
      const env = { ...process.env, NODE_OPTIONS: '' };
      const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env });
      expect(stdout, stderr).to.equal('false');
    });

    it(`have one byte for each character: ${name}`, () =>
      expect(readFileSync(join(BIN, `${name}.js`), 'latin1')).to.match(/^[\0-\x7f]*$/));
  }

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
