// The command line of the simulator, in shared memory.
import { expect } from 'chai';
import { theatre } from '../support/processes.js';

describe('shm_simulator', function () {
  this.slow(10_000);
  this.timeout(60_000);
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

  it('refuses one object more', () => {
    const { status, stderr } = stage.run('simulator', '--server-key', '1', '--objects', '100001');
    expect({ status, stderr }).to.deep.equal({
      status: 2,
      stderr: 'shm_simulator: --objects: found 100001, allowed: an integer from 1 to 100000\n',
    });
  });
});
