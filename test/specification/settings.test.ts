import { expect } from 'chai';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { readyPage, scrape, unready } from '../end-to-end/page.js';
import { expectTicks, spansBetween } from '../end-to-end/ticks.js';
import { freePort } from '../support/free-port.js';
import { needs } from '../support/needs.js';
import { waitFor, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { listening } from './listening.js';
import { application, shop, shopSeries, targetOf, targets } from './shop.js';
import { shows } from './shows.js';

/** The server keys that an exporter without a configuration reads. */
const DEFAULT_KEYS = ['82', '456', '999'];

describe('the settings', function () {
  this.slow(3000);
  const programs = testPrograms();
  const APPS = { ads: '11', adh: '12', ats: '13' } as const;
  /** A configuration with only the required settings. */
  let bare: Running;
  let bareUrl = '';
  /** The same, for stdout mode. */
  let printing: Running;
  let slowly: Running;

  const exporter = (settings: Readonly<Record<string, unknown>>): Running =>
    programs.exporter({ app: 'shop', server_keys: ['1'], ...settings });
  const pageOf = async (settings: Readonly<Record<string, unknown>>): Promise<string> =>
    readyPage(await exporter(settings).url());
  const prefixes = (page: string): string[] => [
    ...new Set(Object.keys(application(page)).map((key) => /^[a-z]+_[a-z]+/.exec(key)?.[0] ?? '')),
  ];

  before(async () => {
    const license = ['--license-file', programs.license];
    printing = programs.start('exporter', license);
    bare = programs.start('exporter', [...license, '--enable-metrics-http', '--metrics-port', '0']);
    const neverSynced = {
      id: 'h.6.shop.safe',
      parent: 'h.6.shop',
      class: 'Safe',
      synced: false,
      variables: { gold: { type: 'u64' } },
    };
    const shops = [...shop('h.1.shop', 1), ...shop('h.2.shop', 2)];
    programs.publish({ server_key: '1', objects: shops });
    programs.publish({ server_key: '999', objects: shop('h.9.shop', 9) });
    programs.publish({ server_key: '6', objects: [...shop('h.6.shop', 6), neverSynced] });
    programs.publish({ server_key: '1', pool_name: 'puddle', objects: shop('h.7.shop', 7) });
    for (const [app, key] of Object.entries(APPS))
      programs.simulate(...['--app', app, '--server-key', key, '--objects', '40', '--rate', '0']);
    slowly = exporter({ metrics_http_enabled: false, metrics_interval_seconds: 2 });
    bareUrl = await bare.url();
  });

  /** The reason why a target is not ready, after its segments were polled. */
  const waited = async (url: string): Promise<string> => (await unready(url, /no segment/)).body;
  const unset = (context: Mocha.Context): Promise<string> => {
    const isTaken = DEFAULT_KEYS.some((key) => existsSync(`/dev/shm/shmApp.pool.${key}`));
    needs(context, !isTaken, 'another program publishes under a default server key');
    return waited(bareUrl);
  };

  shows('2.1 context_id', () => {
    it('is shmApp by default', async function () {
      expect(await unset(this)).to.contain('no segment shmApp.pool.82 in shared memory');
    });

    it('is the first part of the name of a segment', async () => {
      expect(programs.segments()).to.include(`${programs.contextId}.pool.1`);
      expect(application(await pageOf({}))).to.deep.equal(shopSeries('shop', 1));
      const other = exporter({ context_id: 'elsewhere' });
      expect(await waited(await other.url())).to.contain('no segment elsewhere.pool.1 ');
    });
  });

  shows('2.1 pool_name', () => {
    it('is pool by default', async function () {
      expect(await unset(this)).to.contain(' shmApp.pool.82 ');
    });

    it('is the second part of the name of a segment', async () => {
      expect(programs.segments()).to.include(`${programs.contextId}.puddle.1`);
      const page = await pageOf({ pool_name: 'puddle' });
      expect(application(page)).to.deep.equal(shopSeries('shop', 7));
    });
  });

  shows('2.1 app', () => {
    it('is ads by default', async function () {
      expect(await unset(this)).to.contain('waiting on a root of application ads, ');
    });

    for (const [app, key] of Object.entries(APPS))
      it(`can be "${app}", with the metrics of its catalogue`, async () => {
        const page = await pageOf({ app, server_keys: [key] });
        expect(targetOf(page)['app']).to.equal(app);
        const names = Object.keys(application(page));
        expect(names.every((name) => name.startsWith(`${app}_`))).to.be.true;
        expect(names).to.include(`${app}_process_pid{}`);
      });
  });

  shows('2.1 instance', () => {
    it('is empty by default, which selects the first matching root', async () =>
      expect(targetOf(await pageOf({}))['root']).to.equal('h.1.shop'));

    for (const instance of ['2', 'h.2.shop'])
      it(`"${instance}" selects the root h.2.shop`, async () =>
        expect(targetOf(await pageOf({ instance }))['root']).to.equal('h.2.shop'));
  });

  const ads = { app: 'ads', server_keys: [APPS.ads] };

  shows('2.1 classes', () => {
    it('limits the metrics and the tracked objects to these classes; the default limits nothing', async () => {
      const all = exporter(ads);
      const few = exporter({ ...ads, classes: ['mounts', 'streams'] });
      const wanted = ['ads_mounts', 'ads_streams'];
      const whole = prefixes(await readyPage(await all.url()));
      expect(whole).to.include.members([...wanted, 'ads_process', 'ads_server', 'ads_fanout']);
      expect(prefixes(await readyPage(await few.url()))).to.have.members(wanted);
      await few.line(/ ready: 2 objects, /);
      const [, tracked = ''] = await all.line(/ ready: (\d+) objects, /);
      expect(Number(tracked)).to.be.above(20);
    });
  });

  shows('2.1 seed_path_groups', () => {
    it('limits the metrics to the paths of these groups', async () =>
      expect(
        prefixes(await pageOf({ ...ads, seed_path_groups: ['client_totals'] })),
      ).to.have.members(['ads_streams', 'ads_requests', 'ads_fanout']));
  });

  shows('2.1 seed_paths', () => {
    const all = shopSeries('shop', 1);
    const cases = [
      ['@root', ['@root']],
      ['till', ['till', 'till.drawer']],
      ['till.drawer', ['till.drawer']],
    ] as const;
    for (const [path, objects] of cases)
      it(`"${path}" selects the variables of ${objects.join(' and ')}`, async () => {
        const shown = Object.keys(application(await pageOf({ seed_paths: [path] })));
        expect(shown).to.have.members(
          Object.keys(all).filter((key) =>
            objects.some((object) => key.endsWith(`{"object":"${object}"}`)),
          ),
        );
      });
  });

  shows('2.1 server_keys', () => {
    it('are 82, 456 and 999 by default', async function () {
      for (const key of DEFAULT_KEYS)
        expect(await unset(this)).to.contain(`server key ${key}: no segment shmApp.pool.${key} `);
      const url = await programs.exporter({ app: 'shop' }).url();
      expect(targetOf(await readyPage(url))).to.include({ server_key: '999', root: 'h.9.shop' });
    });

    it('are exactly the configured keys', async () => {
      const text = await waited(await exporter({ server_keys: ['5', '7'] }).url());
      expect(text.match(/server key \d+/g)).to.deep.equal(['server key 5', 'server key 7']);
    });
  });

  shows('2.1 debug', () => {
    it('is false by default', () => expect(bare.stderr).not.to.contain(' debug '));

    describe('true', () => {
      let talking: Running;
      before(async () => {
        const tables = ['1', '6', '5'].map((server_key) => ({ app: 'shop', server_key }));
        const config = programs.config({ debug: true }, targets(...tables));
        talking = programs.start('exporter', ['--config', config]);
        const url = await talking.url();
        await readyPage(`${url}?server_key=1`);
        for (const key of ['6', '5']) await unready(`${url}?server_key=${key}`, /waiting on /);
      });

      it('logs the progress of each sync', () =>
        talking.line(
          / debug target shop on 6 sync: objects 3\/4, variables 3\/4, waiting on .*h\.6\.shop\.safe/,
        ));

      it('logs the content of each update', () =>
        talking.line(
          / debug target shop on 1 update: notification \d+, \d+ changes in the directory\n/,
        ));

      it('logs for each scrape the server keys and the target found', async () => {
        await talking.line(/ debug target shop on 1 lookup: server key 1 live; root h\.1\.shop\n/);
        await talking.line(/ debug target shop on 5 lookup: server key 5 absent; no root\n/);
      });

      it('logs the result of each scrape', () =>
        talking.line(/ debug target shop on 1 rendered 3 series, \d+ bytes\n/));
    });
  });

  shows('2.1 metrics_http_enabled', () => {
    it('is false by default, and nothing listens', () =>
      expect(listening(printing.pid)).to.deep.equal([]));

    it('true starts the listener', async () => {
      const serving = exporter({ metrics_http_enabled: true });
      const { host } = new URL(await serving.url());
      expect(listening(serving.pid)).to.deep.equal([host]);
    });
  });

  shows('2.1 metrics_bind_address', () => {
    it('is 0.0.0.0 by default', () =>
      expect(listening(bare.pid)).to.deep.equal([`0.0.0.0:${new URL(bareUrl).port}`]));

    it('is the only address of the listener', async () => {
      const serving = exporter({ metrics_bind_address: '127.0.0.2' });
      const { port, href } = new URL(await serving.url());
      // Others may listen on that port of another address, so what it says there shows nothing.
      expect(listening(serving.pid)).to.deep.equal([`127.0.0.2:${port}`]);
      await readyPage(href);
    });
  });

  shows('2.1 metrics_port', () => {
    it('is 9464 by default', async () => {
      // Taken by us, or by somebody else before us.
      const taken = createServer().listen(9464, '0.0.0.0');
      await once(taken, 'listening').catch(() => undefined);
      taken.unref();
      const late = programs.start('exporter', [
        ...['--license-file', programs.license, '--enable-metrics-http'],
      ]);
      expect(await late.ended).to.deep.equal({ status: 4, signal: null });
      expect(late.stderr).to.contain('Cannot listen on 0.0.0.0:9464: ');
      taken.close();
    });

    it('is the port of the listener', async () => {
      const metrics_port = await freePort();
      const serving = exporter({ metrics_port });
      expect(await serving.url()).to.equal(`http://127.0.0.1:${metrics_port}/metrics`);
      expect(listening(serving.pid)).to.deep.equal([`127.0.0.1:${metrics_port}`]);
    });
  });

  shows('2.1 metrics_path', () => {
    it('is /metrics by default', () => expect(new URL(bareUrl).pathname).to.equal('/metrics'));

    it('is the only path of the metrics', async () => {
      const url = await exporter({ metrics_path: '/here/it-is' }).url();
      expect(new URL(url).pathname).to.equal('/here/it-is');
      expect(application(await readyPage(url))).to.deep.equal(shopSeries('shop', 1));
      expect((await scrape(new URL('/metrics', url).href)).status).to.equal(404);
    });
  });

  shows('2.1 metrics_interval_seconds', () => {
    it('is the time between two snapshots on stdout', async () => {
      const spans = await waitFor('three snapshots', () => {
        const all = spansBetween(slowly.stdout);
        return all.length < 2 ? undefined : all;
      });
      expectTicks(spans, 1600, 2700);
    });
  });

  shows('8 metrics_interval_seconds', () => {
    it('is 10 by default, and the first snapshot follows after that time', async () => {
      const line = await waitFor('a snapshot', () => /^# snapshot .*\n/.exec(printing.stdout)?.[0]);
      expect(line).to.contain('scrape not ready: ');
      const [, printed = ''] = / time=(\S+) /.exec(line) ?? [];
      const [started = ''] = printing.stderr.split(' ');
      expect(Date.parse(printed) - Date.parse(started)).to.be.within(9900, 13_000);
    });

    it('has no effect when HTTP is enabled', () => expect(bare.stdout).to.equal(''));
  });
});
