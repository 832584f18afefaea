import { expect } from 'chai';
import { readyPage, scrape, unready } from '../end-to-end/page.js';
import { SPECIFIED_MODE as worker_execution_mode } from '../support/modes.js';
import { testPrograms } from '../support/processes.js';
import { application, scopes, shop, shopSeries, targetOf, targets } from './shop.js';
import { shows } from './shows.js';

const SCOPES = scopes({ till: ['*_till_*'] });
const NONE =
  'no target matches the routing parameters, allowed: server_key=1, server_key=2, server_key=6, server_key=3\n';
const NEITHER = 'several targets are configured: add server_key, or app and instance\n';

describe('routing', function () {
  this.slow(3000);
  const programs = testPrograms();
  let url = '';
  const ask = async (query: string) => scrape(url + query);

  before(async () => {
    const unsynced = { id: 'h.6.shop', class: 'Shop', synced: false, variables: {} };
    programs.publish({ server_key: '1', objects: shop('h.1.shop', 1) });
    programs.publish({ server_key: '2', objects: shop('h.1.shop', 2) });
    programs.publish({ server_key: '3', objects: shop('h.3.bank', 3) });
    programs.publish({ server_key: '6', objects: [unsynced] });
    const tables = targets(...['1', '2', '6'].map((server_key) => ({ app: 'shop', server_key })), {
      app: 'bank',
      server_key: '3',
    });
    const config = programs.config({ worker_execution_mode }, tables + SCOPES);
    url = await programs.start('exporter', ['--config', config]).url();
    for (const key of ['1', '2', '3']) await readyPage(`${url}?server_key=${key}`);
    await unready(`${url}?server_key=6`, /waiting on object h\.6\.shop/);
  });

  shows('4.3.1', () => {
    it('a single target needs no routing parameters, with or without a scope', async () => {
      const settings = { app: 'bank', server_keys: ['9', '3'], worker_execution_mode };
      const config = programs.config(settings, SCOPES);
      const only = await programs.start('exporter', ['--config', config]).url();
      expect(application(await readyPage(only))).to.deep.equal(shopSeries('bank', 3));
      expect((await scrape(`${only}/till`)).status).to.equal(200);
    });
  });

  shows('4.3.2', () => {
    for (const [query, text] of [
      ['', NEITHER],
      ['?unknown=1', NEITHER],
      ['?app=bank', 'app and instance must be given together; or use server_key\n'],
      ['?instance=h.3.bank', 'app and instance must be given together; or use server_key\n'],
    ] as const)
      it(`a request ${query === '' ? 'without a query' : `with ${query}`} gets 400 and the names of the missing parameters`, async () =>
        expect(await ask(query)).to.deep.include({ status: 400, body: text }));
  });

  shows('4.3.3', () => {
    for (const [key, app, count] of [
      ['1', 'shop', 1],
      ['2', 'shop', 2],
      ['3', 'bank', 3],
    ] as const)
      it(`server_key ${key} alone selects ${app}`, async () => {
        const { status, body } = await ask(`?server_key=${key}`);
        expect(status).to.equal(200);
        expect(targetOf(body)).to.include({ app, server_key: key });
        expect(application(body)).to.deep.equal(shopSeries(app, count));
      });
  });

  shows('4.3.4', () => {
    it('app and instance match the selected root, even if the file states no instance', async () => {
      const { status, body } = await ask('?app=bank&instance=h.3.bank');
      expect(status).to.equal(200);
      expect(application(body)).to.deep.equal(shopSeries('bank', 3));
    });
  });

  shows('4.3.5', () => {
    it('two targets with the same app and instance need server_key as well', async () => {
      expect(await ask('?app=shop&instance=h.1.shop')).to.deep.include({
        status: 400,
        body: 'several targets share app and instance: add server_key\n',
      });
      for (const count of [1, 2]) {
        const { status, body } = await ask(`?app=shop&instance=h.1.shop&server_key=${count}`);
        expect(status).to.equal(200);
        expect(application(body)).to.deep.equal(shopSeries('shop', count));
      }
    });
  });

  shows('4.3.6', () => {
    for (const query of ['?server_key=6', '?app=shop&instance=h.6.shop', '/till?server_key=6'])
      it(`the request ${query} gets 503 while the root of the target is not synced`, async () =>
        expect(await ask(query)).to.deep.include({
          status: 503,
          body: 'scrape not ready: objects 0/1 synced, variables 0/0 synced, waiting on object h.6.shop\n',
        }));
  });

  shows('7 404', () => {
    for (const query of [
      '?server_key=9',
      '?app=bank&instance=h.9.bank',
      '?app=shop&instance=h.3.bank',
      '?app=bank&instance=h.3.bank&server_key=1',
    ])
      it(`the request ${query} gets 404`, async () =>
        expect(await ask(query)).to.deep.include({
          status: 404,
          body: NONE,
        }));
  });
});
