// The page at `/`: what it links to, and where its text may break.
import { expect } from 'chai';
import type { Target } from '#app/model.js';
import { statusPage } from '#app/sinks/http/status-page.js';
import { FakeTarget } from '../../support/fake-target.js';

describe('statusPage', () => {
  const scopes: Readonly<Record<string, readonly string[]>> = { ads: ['all', 'clients'] };
  const facts = {
    path: '/metrics',
    version: '1.2.3',
    scopeNames: ({ app }: Target) => scopes[app] ?? [],
  };
  const cells = (html: string, head: string) =>
    [...html.matchAll(new RegExp(`<td data-is="${head}">(.*?)</td>`, 'g'))].map(
      ([, cell = '']) => cell,
    );

  it('links each target to the scopes that apply to it, and to no others', () => {
    const targets = [new FakeTarget('ads', ['82']), new FakeTarget('adh', ['80'])];
    const html = statusPage(targets, facts);
    expect(cells(html, 'scopes')).to.deep.equal([
      '<a href="/metrics/all?server_key=82">all</a> <a href="/metrics/clients?server_key=82">clients</a>',
      '',
    ]);
    expect(cells(html, 'app')[1]).to.equal('<a href="/metrics?server_key=80">adh</a>');
  });

  describe('breaks text', () => {
    const waitingFor = (reason: string) =>
      new FakeTarget('ads', ['82'], '').wait({
        objects: { synced: 0, total: 1 },
        variables: { synced: 0, total: 0 },
        reason,
      });
    const stateOf = (reason: string) => cells(statusPage([waitingFor(reason)], facts), 'state')[0];

    it('behind the dots of an id, and in words beyond 20 characters only', () => {
      expect(stateOf('object host.1.ads.userDatabase')).to.equal(
        'waiting on object host.<wbr>1.<wbr>ads.<wbr>userDatabase',
      );
      expect(stateOf('x'.repeat(20))).to.equal(`waiting on ${'x'.repeat(20)}`);
      expect(stateOf(`${'x'.repeat(22)} y`)).to.equal(`waiting on ${'x'.repeat(20)}<wbr>x<wbr>x y`);
      expect(stateOf('no root. None fits')).to.equal('waiting on no root. None fits');
    });

    it('never inside what stands for one character', () =>
      expect(stateOf('<'.repeat(21))).to.equal(`waiting on ${'&#60;'.repeat(20)}<wbr>&#60;`));

    it('nowhere else: heads stay whole', () => {
      const html = statusPage([waitingFor('a.b')], facts);
      expect(html).to.contain('th{white-space:nowrap}');
      expect(html).not.to.match(/overflow-wrap|word-break/);
    });
  });
});
