// Tests that, before mocha retries a test, the test programs of the suite return to their state before the
// test.
import { existsSync, mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { TestPrograms } from './processes.js';

describe('TestPrograms', () => {
  const programs = new TestPrograms();
  after(() => programs.close());

  it('ends the processes and removes the files of a failed test before mocha retries the test', async () => {
    const before = programs.write('before', '');
    const server = programs.command(['sleep', '600']);
    programs.recordBaseline();
    const { license } = programs;
    mkdirSync(programs.path('folder'));
    const helper = programs.command(['sleep', '600']);
    programs.simulate('--server-key', 'again', '--app', 'ads');
    expect(programs.segments()).to.have.length(1);

    await programs.restoreBaseline();
    expect(programs.segments()).to.deep.equal([]);
    expect(helper.isOver).to.equal(true);
    expect(server.isOver).to.equal(false);
    expect([license, programs.path('folder')].filter(existsSync)).to.deep.equal([]);
    expect(existsSync(before)).to.equal(true);
    mkdirSync(programs.path('folder'));
    programs.simulate('--server-key', 'again', '--app', 'ads');
    expect(existsSync(programs.license)).to.equal(true);
  });
});
