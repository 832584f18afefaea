// Tests the command line of the simulator when it publishes in shared memory.
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { parseOptions } from '#app/simulator/options.js';
import { eventually } from '../support/eventually.js';
import { faultMessage } from '../support/fault-message.js';
import { testPrograms } from '../support/processes.js';

describe('shm_simulator', function () {
  this.slow(10_000);
  const programs = testPrograms();

  it('publishes up to 100000 objects with --objects, and removes its segment at SIGTERM', async () => {
    const words = ['--app', 'adh', '--server-key', '1', '--objects', '100000', '--rate', '0'];
    const simulator = await programs.simulator(...words);
    expect(simulator.stderr).to.equal('ready\n');
    expect(await simulator.stop()).to.deep.equal({ status: 0, signal: null });
    expect(programs.segments()).to.deep.equal([]);
  });

  it('warns of an application without a built-in tree, but not if a scenario is given', async () => {
    const misspelled = await programs.simulator('--app', 'adz', '--server-key', '2');
    expect(misspelled.stderr).to.equal(
      'warning: there is no built-in tree of adz (did you mean "ads"?); the simulator publishes a general tree\nready\n',
    );
    const played = await programs.simulatorOf({ objects: [] }, '--app', 'adz', '--server-key', '4');
    expect(played.stderr).to.equal('ready\n');
  });

  for (const signal of ['SIGINT', 'SIGHUP'] as const)
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
    const words = ['--server-key', '1', '--objects', '100001'];
    expect(faultMessage('USAGE', () => parseOptions(words, ''))).to.equal(
      '--objects: found 100001, allowed: an integer from 1 to 100000',
    );
  });
});
