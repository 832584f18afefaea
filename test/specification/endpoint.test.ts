import { expect } from 'chai';
import { readyPage, samplesOf, scrape, unready } from '../end-to-end/page.js';
import { testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { listening } from './listening.js';
import { application, internal, shop, shopSeries, targetOf, targets } from './shop.js';
import { shows } from './shows.js';

describe('the listener', function () {
  this.slow(3000);
  const programs = testPrograms();
  let exporter: Running;
  let url = '';
  const statusOf = async (query: string): Promise<number> => (await scrape(url + query)).status;
  const pageOf = (query: string): Promise<string> => readyPage(url + query);

  before(async () => {
    programs.publish({ server_key: '1', objects: shop('far.host.1.shop', 1) });
    programs.publish({ server_key: '2', objects: shop('far.host.2.shop', 2) });
    // This root has the same id as the root of server key 1.
    programs.publish({ server_key: '3', objects: shop('far.host.1.shop', 3) });
    programs.publish({ server_key: '5', objects: shop('far.host.5.ats', 5) });
    const more = targets(
      ...['1', '2', '3'].map((server_key) => ({ app: 'shop', server_key })),
      { app: 'shop', server_key: '4' },
      { app: 'ats', server_key: '5' },
    );
    const config = programs.config({ metrics_path: '/of/a/shop' }, more);
    exporter = programs.start('exporter', ['--config', config]);
    url = await exporter.url();
    for (const key of ['1', '3']) await pageOf(`?server_key=${key}`);
  });

  shows('4', () => {
    it('the exporter listens on metrics_bind_address:metrics_port, and serves metrics at metrics_path', async () => {
      const { host, origin, pathname } = new URL(url);
      expect(listening(exporter.pid)).to.deep.equal([host]);
      expect(pathname).to.equal('/of/a/shop');
      expect((await scrape(`${origin}/metrics`)).status).to.equal(404);
    });

    it('the exporter listens nowhere when metrics_http_enabled is false', async () => {
      const printing = programs.exporter({ metrics_http_enabled: false, app: 'shop' });
      await printing.line(/waiting on a root of application shop/);
      expect(listening(printing.pid)).to.deep.equal([]);
      await printing.stop();
    });
  });

  shows('4.1', () => {
    it('a page has the metrics of only one target', async () => {
      const page = await pageOf('?server_key=1');
      expect(application(page)).to.deep.equal(shopSeries('shop', 1));
      expect(new Set(samplesOf(page).map(({ name }) => name.split('_')[0]))).to.deep.equal(
        new Set(['shop', 'shm']),
      );
    });
  });

  shows('4.1 server_key', () => {
    for (const [key, root] of [
      ['1', 'far.host.1.shop'],
      ['3', 'far.host.1.shop'],
    ] as const)
      it(`server_key ${key} selects the target with this key`, async () =>
        expect(targetOf(await pageOf(`?server_key=${key}`))).to.include({ server_key: key, root }));

    it('a server_key that no target has gives 404', async () =>
      expect(await statusOf('?server_key=9')).to.equal(404));
  });

  shows('4.1 app', () => {
    it('app and instance select the target that has both', async () => {
      const page = await pageOf('?app=ats&instance=far.host.5.ats');
      expect(targetOf(page)).to.include({ app: 'ats', server_key: '5' });
    });

    it('an app and an instance of different targets give 404', async () =>
      expect(await statusOf('?app=shop&instance=far.host.5.ats')).to.equal(404));
  });

  shows('4.1 instance', () => {
    it('instance is the complete resolved root id, including the dots of the host name', async () => {
      expect(await statusOf('?app=ats&instance=far.host.5.ats')).to.equal(200);
      for (const part of ['5', 'host.5.ats', 'far.host.5'])
        expect(await statusOf(`?app=ats&instance=${part}`), part).to.equal(404);
    });
  });

  shows(['4.3', '7 200'], () => {
    it('a scrape of a ready target gets its application metrics and its internal metrics', async () => {
      const { status, headers, body } = await scrape(`${url}?server_key=1`);
      expect(status).to.equal(200);
      expect(headers['content-type']).to.match(/^text\/plain; version=0\.0\.4/);
      expect(body).to.match(
        /^# HELP shop_till_sales_total .+\n# TYPE shop_till_sales_total counter\n/m,
      );
      expect(application(body)).to.deep.equal(shopSeries('shop', 1));
      expect(internal(body, 'internal_target_ready')).to.equal(1);
    });
  });

  shows('7 400', () => {
    const cases = [
      ['', 'no parameters', /several targets .*server_key/],
      ['?app=ats', 'app but no instance', /app and instance .*together/],
      ['?instance=far.host.5.ats', 'instance but no app', /app and instance .*together/],
      [
        '?app=shop&instance=far.host.1.shop',
        'app and instance of several targets',
        /several targets share app and instance.*server_key/,
      ],
    ] as const;
    for (const [query, what, text] of cases)
      it(`a request with ${what} gets 400 and the reason`, async () => {
        const { status, headers, body } = await scrape(url + query);
        expect(status).to.equal(400);
        expect(headers['content-type']).to.match(/^text\/plain/);
        expect(body).to.match(text);
      });

    it('a request with app and instance of several targets gets 200 if server_key is added', async () => {
      for (const [key, count] of [
        ['1', 1],
        ['3', 3],
      ] as const) {
        const page = await pageOf(`?app=shop&instance=far.host.1.shop&server_key=${key}`);
        expect(application(page)).to.deep.equal(shopSeries('shop', count));
      }
    });
  });

  shows('7 503', () => {
    it('a scrape of a target without a root gets 503, with 0 objects and 0 variables', async () => {
      const { body } = await unready(`${url}?server_key=4`, /no segment/);
      expect(body).to.match(
        /^scrape not ready: objects 0\/0 synced, variables 0\/0 synced, waiting on .*no segment .*\n$/,
      );
    });
  });

  shows('7.3', () => {
    it('a page has only internal metrics if the catalogue has no metrics for the objects of the target', async () => {
      const page = await pageOf('?server_key=5');
      expect(targetOf(page)['root']).to.equal('far.host.5.ats');
      expect(application(page)).to.deep.equal({});
      expect(internal(page, 'internal_target_ready')).to.equal(1);
    });

    it('a page has only internal metrics if the filters select nothing', async () => {
      const alone = programs.exporter({ app: 'shop', server_keys: ['2'], seed_paths: ['nowhere'] });
      const page = await readyPage(await alone.url());
      expect(application(page)).to.deep.equal({});
      expect(internal(page, 'internal_target_ready')).to.equal(1);
    });
  });
});
