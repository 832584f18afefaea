// The endpoint POST /-/reload.
import { expect } from 'chai';
import { FakeTarget } from '../../support/fake-target.js';
import { freshServing } from '../../support/serving-http.js';

const ACCEPTED = { kind: 'accepted', notApplied: [] } as const;

describe('/-/reload', () => {
  const serve = freshServing();
  const post = { method: 'POST' };

  it('is rejected unless the settings allow reloads, and the answer names the setting', async () => {
    const http = await serve([new FakeTarget()]);
    const { status, text } = await http.ask('/-/reload', post);
    expect([status, text]).to.deep.equal([
      403,
      'reloads by HTTP are off; http_reload_enabled turns them on\n',
    ]);
  });

  it('reloads at each POST, and answers when the configuration is in use', async () => {
    let reloads = 0;
    const reload = () => {
      reloads++;
      return ACCEPTED;
    };
    const http = await serve([new FakeTarget()], { reload });
    const { status, text } = await http.ask('/-/reload', { ...post });
    expect([status, text]).to.deep.equal([200, 'configuration reloaded\n']);
    expect(reloads).to.equal(1);
  });

  it('lists the settings that take effect only at the next start', async () => {
    const notApplied = ['metrics_port changed: the change takes effect at the next start', 'b'];
    const http = await serve([new FakeTarget()], {
      reload: () => ({ kind: 'accepted', notApplied }),
    });
    const { status, text } = await http.ask('/-/reload', post);
    expect([status, text]).to.deep.equal([
      200,
      `configuration reloaded\n${notApplied.join('\n')}\n`,
    ]);
  });

  it('answers 500 with every mistake in the configuration', async () => {
    const http = await serve([new FakeTarget()], {
      reload: () => ({ kind: 'refused', reasons: ['c.toml:1:1: a', 'b'] }),
    });
    const { status, text } = await http.ask('/-/reload', post);
    expect(status).to.equal(500);
    expect(text).to.equal('configuration not reloaded:\nc.toml:1:1: a\nb\n');
  });

  it('ignores a GET request, which a crawler or a link preview may send', async () => {
    let reloads = 0;
    const reload = () => {
      reloads++;
      return ACCEPTED;
    };
    const http = await serve([new FakeTarget()], { reload });
    const { status, headers } = await http.ask('/-/reload');
    expect([status, headers.get('allow'), reloads]).to.deep.equal([405, 'POST', 0]);
  });
});
