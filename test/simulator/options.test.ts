// The command line of the simulator, in shared memory.
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { eventually } from '../support/eventually.js';
import { theatre } from '../support/processes.js';

describe('shm_simulator', function () {
  this.slow(10_000);
  const stage = theatre();

  it('publishes as many objects as --objects allows', async () => {
    const simulator = await stage.simulator(
      '--server-key',
      '1',
      '--objects',
      '100000',
      '--rate',
      '0',
    );
    expect(await simulator.stop()).to.deep.equal({ status: 0, signal: null });
  });

  it('warns of an application without a tree of its own, and not of one with a scenario', async () => {
    const misspelled = await stage.simulator('--app', 'adz', '--server-key', '2');
    expect(misspelled.stderr).to.equal(
      'warning: no tree of adz is built in (did you mean "ads"?); a general one is published\nready\n',
    );
    const known = await stage.simulator('--app', 'adh', '--server-key', '3');
    expect(known.stderr).to.equal('ready\n');
    const played = await stage.player({ objects: [] }, '--app', 'adz', '--server-key', '4');
    expect(played.stderr).to.equal('ready\n');
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    it(`leaves nothing in shared memory at ${signal}, even while it begins`, async () => {
      const files = () =>
        readdirSync('/dev/shm').filter((name) => name.includes(`${stage.contextId}.pool.5`));
      const words = ['--context-id', stage.contextId, '--server-key', '5', '--objects', '20000'];
      const simulator = stage.start('simulator', words);
      await eventually('its file is there', () => files().length === 1);
      expect(await simulator.stop(signal)).to.deep.equal({ status: 0, signal: null });
      expect(files()).to.deep.equal([]);
    });

  it('refuses one object more', () => {
    const { status, stderr } = stage.run('simulator', '--server-key', '1', '--objects', '100001');
    expect({ status, stderr }).to.deep.equal({
      status: 2,
      stderr: 'shm_simulator: --objects: found 100001, allowed: an integer from 1 to 100000\n',
    });
  });
});
