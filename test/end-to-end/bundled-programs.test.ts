// The bundled programs in dist/bin.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, testPrograms } from '../support/processes.js';

const BIN = join(PROJECT, 'dist/bin');
const LAUNCHED_WITH = ['--v8-pool-size=1', '--max-semi-space-size=2', '--heap-growing-percent=50'];

describe('bundled programs', () => {
  const programs = testPrograms();
  const files = readdirSync(BIN).filter((file) => /^shm_.*\.js$/.test(file));

  it('are all in dist/bin', () =>
    expect(files).to.have.members(
      ['bridge', 'dump', 'exporter', 'license', 'simulator'].map((name) => `shm_${name}.js`),
    ));

  for (const file of files)
    it(`include the executable file ${file}`, () => {
      const { stdout } = spawnSync(join(BIN, file), ['--version'], { encoding: 'utf8' });
      expect(stdout).to.match(/^\d+\.\d+\.\d+\n$/);
    });

  it('run with the same Node.js options in the container image as elsewhere', () => {
    const image = readFileSync(join(PROJECT, 'deploy/container/Containerfile'), 'utf8');
    const [, words = ''] = /^ENTRYPOINT (.*?\])/ms.exec(image) ?? [];
    const entry = JSON.parse(words.replace('\\\n', '')) as readonly string[];
    expect(entry.slice(1, -1)).to.deep.equal(LAUNCHED_WITH);
  });

  it('keep the PID of the launched process, and set their Node.js options', async () => {
    const program = join(BIN, 'shm_simulator.js');
    const words = ['--context-id', programs.contextId, '--app', 'ads', '--server-key', '1'];
    const running = programs.command([program, ...words]);
    await running.line(/^ready$/m);
    const line = readFileSync(`/proc/${running.pid}/cmdline`, 'utf8').split('\0');
    expect(line.slice(0, -1)).to.deep.equal(['node', ...LAUNCHED_WITH, program, ...words]);
  });
});
