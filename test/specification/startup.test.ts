import { expect } from 'chai';
import { readyPage, scrape, unready } from '../end-to-end/page.js';
import { expectTicks, spansBetween } from '../end-to-end/ticks.js';
import { waitFor, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { listening } from './listening.js';
import { aside, application, internal, shop, shopSeries, targetOf, targets } from './shop.js';
import { shows } from './shows.js';

describe('startup', function () {
  this.slow(3000);
  const programs = testPrograms();
  const pages = new Map<string, string>();
  let several: Running;
  let printing: Running;
  let single: Running;

  before(async () => {
    const shops = [1, 2, 3].flatMap((number) => shop(`h.${number}.shop`, number));
    const unsynced = { id: 'h.1.bank.safe', parent: 'h.1.bank', class: 'Safe', synced: false };
    const variables = { gold: { type: 'u64', value: 1 } };
    const bank = [...shop('h.1.bank', 4), { ...unsynced, variables }];
    for (const key of ['1', '2', '3']) programs.publish({ server_key: key, objects: shops });
    for (const key of ['4', '5']) programs.publish({ server_key: key, objects: bank });
    const off = { metrics_http_enabled: false, metrics_interval_seconds: 1 };
    printing = programs.exporter({ ...off, app: 'shop', server_keys: ['1'] });
    const hint = { app: 'shop', instance: '3', seed_paths: ['@root'] };
    single = programs.exporter({ ...hint, server_keys: ['8', '9', '2'] });
    const more = targets(
      { app: 'shop', server_key: '1' },
      { app: 'shop', server_key: '2', instance: '2' },
      { app: 'shop', server_key: '3', instance: 'h.3.shop', seed_paths: ['till'] },
      { app: 'bank', server_key: '4', classes: ['Till'] },
      { app: 'bank', server_key: '5' },
    );
    several = programs.start('exporter', ['--config', programs.config({}, more)]);
    const url = await several.url();
    for (const key of ['1', '2', '3', '4'])
      pages.set(key, await readyPage(`${url}?server_key=${key}`));
  });
  const singlePage = async (): Promise<string> => readyPage(await single.url());
  const page = (key: string): string => pages.get(key) ?? '';

  shows('1.3.1', () => {
    it('the exporter builds a target for each table of the file', async () => {
      const ready = [...(await aside(await several.url())).keys()].filter((key) =>
        key.startsWith('shm_exporter_internal_target_ready'),
      );
      expect(ready.map((key) => /"server_key":"(\d)"/.exec(key)?.[1])).to.deep.equal([
        ...['1', '2', '3', '4', '5'],
      ]);
    });
  });

  shows('1.3.2', () => {
    it('the exporter checks each server key, and selects the server key with the root', async () =>
      expect(targetOf(await singlePage())).to.include({ server_key: '2', root: 'h.3.shop' }));
  });

  shows('1.3.3', () => {
    it('the exporter keeps metrics and counters of each target separate', async () => {
      const url = await several.url();
      const misses = 'internal_scrape_render_cache_misses_total';
      const hits = 'internal_scrape_render_cache_hits_total';
      const scrapes = (text: string) => internal(text, misses) + internal(text, hits);
      const [one, two] = await Promise.all(
        ['1', '2'].map(async (key) => (await scrape(`${url}?server_key=${key}`)).body),
      );
      const again = (await scrape(`${url}?server_key=1`)).body;
      const other = (await scrape(`${url}?server_key=2`)).body;
      expect(scrapes(again)).to.equal(scrapes(one ?? '') + 1);
      expect(scrapes(other)).to.equal(scrapes(two ?? '') + 1);
      expect(application(again)).to.deep.equal(shopSeries('shop', 1));
      expect(application(other)).to.deep.equal(shopSeries('shop', 2));
    });
  });

  shows('1.3.4', () => {
    it('the exporter either serves metrics and prints none, or prints metrics and listens nowhere', async () => {
      await waitFor('a snapshot', () => /# EOF\n/.exec(printing.stdout)?.[0]);
      expect(listening(printing.pid)).to.deep.equal([]);
      expect(listening(several.pid)).to.have.lengthOf(1);
      expect(several.stdout).to.equal('');
    });
  });

  shows('1.3.5', () => {
    const cases = [
      ['1', 'an omitted hint', 'h.1.shop'],
      ['2', 'an instance number', 'h.2.shop'],
      ['3', 'a full root id', 'h.3.shop'],
    ] as const;
    for (const [key, hint, root] of cases)
      it(`${hint} selects ${root} of three roots`, () =>
        expect(targetOf(page(key))).to.include({ app: 'shop', server_key: key, root }));
  });

  shows('1.3.6', () => {
    it('a page shows the root, its child and its grandchild, but no object of other roots', () =>
      expect(application(page('2'))).to.deep.equal(shopSeries('shop', 2)));
  });

  shows('1.4', () => {
    it('the exporter serves metrics when metrics_http_enabled is true', async () =>
      expect((await scrape(`${await several.url()}?server_key=1`)).status).to.equal(200));
  });

  shows(['1.4', '2.1 metrics_interval_seconds'], () => {
    it('the exporter prints a snapshot every metrics_interval_seconds when metrics_http_enabled is false', async () => {
      const spans = await waitFor('four snapshots', () => {
        const all = spansBetween(printing.stdout);
        return all.length < 3 ? undefined : all;
      });
      expectTicks(spans, 1000);
    });
  });

  shows('1.5 single-target', () => {
    it('a scrape without routing shows the root that the top-level keys describe', async () => {
      const text = await singlePage();
      expect(targetOf(text)).to.include({ app: 'shop', server_key: '2', root: 'h.3.shop' });
      expect(application(text)).to.deep.equal({ 'shop_count{"object":"@root"}': '3' });
    });
  });

  shows('1.5 multi-target', () => {
    it('each table defines a target, and the parameters of a scrape select a target', async () => {
      const url = await several.url();
      for (const [key, app] of [
        ['1', 'shop'],
        ['4', 'bank'],
      ] as const)
        expect(targetOf(page(key))).to.include({ app, server_key: key });
      expect((await scrape(url)).status).to.equal(400);
    });
  });

  shows('1.8', () => {
    it('a page shows only objects that pass the filters', () => {
      const all = shopSeries('shop', 3);
      const till = Object.entries(all).filter(([key]) => key.includes('"object":"till'));
      expect(application(page('3'))).to.deep.equal(Object.fromEntries(till));
      expect(application(page('4'))).to.deep.equal({
        'bank_till_sales_total{"object":"till"}': '40',
      });
    });

    it('an unsynced object outside the filters does not delay readiness', async () => {
      expect(internal(page('4'), 'internal_target_pending_sync_items')).to.equal(0);
      await several.line(/target bank on 4 ready: 1 object, 1 variable/);
      await unready(`${await several.url()}?server_key=5`, /waiting on object h\.1\.bank\.safe/);
    });
  });
});
