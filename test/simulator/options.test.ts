// Tests the command line of the simulator, with shared memory.
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { eventually } from '../support/eventually.js';
import { testPrograms } from '../support/processes.js';

describe('shm_simulator', function () {
  this.slow(10_000);
  const programs = testPrograms();

  it('publishes up to 100000 objects with --objects', async () => {
    const simulator = await programs.simulator(
      '--server-key',
      '1',
      '--objects',
      '100000',
      '--rate',
      '0',
    );
    expect(await simulator.stop()).to.deep.equal({ status: 0, signal: null });
  });

  it('warns of an application without a built-in tree, unless a scenario is given', async () => {
    const misspelled = await programs.simulator('--app', 'adz', '--server-key', '2');
    expect(misspelled.stderr).to.equal(
      'warning: no tree of adz is built in (did you mean "ads"?); a general one is published\nready\n',
    );
    const known = await programs.simulator('--app', 'adh', '--server-key', '3');
    expect(known.stderr).to.equal('ready\n');
    const played = await programs.simulatorOf({ objects: [] }, '--app', 'adz', '--server-key', '4');
    expect(played.stderr).to.equal('ready\n');
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    it(`removes its segment at ${signal}, even during its start`, async () => {
      const files = () =>
        readdirSync('/dev/shm').filter((name) => name.includes(`${programs.contextId}.pool.5`));
      const words = ['--context-id', programs.contextId, '--server-key', '5', '--objects', '20000'];
      const simulator = programs.start('simulator', words);
      await eventually('the segment exists', () => files().length === 1);
      expect(await simulator.stop(signal)).to.deep.equal({ status: 0, signal: null });
      expect(files()).to.deep.equal([]);
    });

  it('rejects more than 100000 objects', () => {
    const { status, stderr } = programs.run(
      'simulator',
      '--server-key',
      '1',
      '--objects',
      '100001',
    );
    expect({ status, stderr }).to.deep.equal({
      status: 2,
      stderr: 'shm_simulator: --objects: found 100001, allowed: an integer from 1 to 100000\n',
    });
  });
});
