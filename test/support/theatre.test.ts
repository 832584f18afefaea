// What tests that need real programs rely on.
import { existsSync, mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { Theatre } from './processes.js';

describe('a theatre', () => {
  const stage = new Theatre();
  after(() => stage.close());

  it('is as the first try found it when a test is tried again', async () => {
    const before = stage.write('before', '');
    const server = stage.command(['sleep', '600']);
    stage.begin();
    const { license } = stage;
    mkdirSync(stage.path('folder'));
    const helper = stage.command(['sleep', '600']);
    stage.simulate('--server-key', 'again', '--app', 'ads');
    expect(stage.segments()).to.have.length(1);

    await stage.beginAgain();
    expect(stage.segments()).to.deep.equal([]);
    expect(helper.isOver).to.equal(true);
    expect(server.isOver).to.equal(false);
    expect([license, stage.path('folder')].filter(existsSync)).to.deep.equal([]);
    expect(existsSync(before)).to.equal(true);
    mkdirSync(stage.path('folder'));
    stage.simulate('--server-key', 'again', '--app', 'ads');
    expect(existsSync(stage.license)).to.equal(true);
  });
});
