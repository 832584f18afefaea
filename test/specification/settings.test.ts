import { expect } from 'chai';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { readyPage, scrape, unready } from '../end-to-end/page.js';
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
  /** The settings of one exporter per application: its server key and, except for adh, a filter. */
  const APPS = {
    ads: { server_keys: ['11'], classes: ['process', 'mounts', 'streams'] },
    adh: { server_keys: ['12'] },
    ats: { server_keys: ['13'], seed_path_groups: ['health'] },
  };
  type App = keyof typeof APPS;
  /** An exporter in HTTP mode with only the required settings. */
  let bare: Running;
  let bareUrl = '';
  /** An exporter in stdout mode with only the required settings. */
  let printing: Running;
  /** An exporter of application shop with the default server keys. */
  let unlimited: Running;
  /** An exporter with its own pool name, address, port and path. */
  let placed: Running;
  let placedUrl = '';
  /** An exporter with a context id and server keys for which no segments exist. */
  let other: Running;
  let metrics_port = 0;
  const exporters = new Map<App, Running>();
  const pages = new Map<App, string>();

  const exporter = (settings: Readonly<Record<string, unknown>>): Running =>
    programs.exporter({ app: 'shop', ...settings });
  const readyFrom = async (running: Running): Promise<string> => readyPage(await running.url());
  const namesOf = (app: App): readonly string[] => Object.keys(application(pages.get(app) ?? ''));
  const prefixesOf = (app: App): readonly string[] => [
    ...new Set(namesOf(app).map((key) => /^[a-z]+_[a-z]+/.exec(key)?.[0] ?? '')),
  ];
  /** The series of the objects of a shop at these paths. */
  const seriesBelow = (count: number, ...paths: readonly string[]): Record<string, string> =>
    Object.fromEntries(
      Object.entries(shopSeries('shop', count)).filter(([key]) =>
        paths.some((path) => key.endsWith(`{"object":"${path}"}`)),
      ),
    );

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
    programs.publish({
      server_key: '999',
      objects: [...shop('h.9.shop', 9), ...shop('h.10.shop', 10)],
    });
    programs.publish({ server_key: '6', objects: [...shop('h.6.shop', 6), neverSynced] });
    programs.publish({ server_key: '1', pool_name: 'puddle', objects: shop('h.7.shop', 7) });
    for (const [app, { server_keys }] of Object.entries(APPS)) {
      const tree = ['--app', app, '--server-key', ...server_keys, '--objects', '40'];
      programs.simulate(...tree, '--rate', '0');
    }
    metrics_port = await freePort();
    unlimited = exporter({});
    other = exporter({ context_id: 'elsewhere', server_keys: ['5', '7'] });
    placed = exporter({
      ...{ pool_name: 'puddle', server_keys: ['1'], seed_paths: ['till.drawer'] },
      ...{ metrics_bind_address: '127.0.0.2', metrics_port, metrics_path: '/here/it-is' },
    });
    for (const app of ['ads', 'adh', 'ats'] as const)
      exporters.set(app, exporter({ app, ...APPS[app] }));
    for (const [app, running] of exporters) pages.set(app, await readyFrom(running));
    bareUrl = await bare.url();
    placedUrl = await placed.url();
  });

  /** The reason why a target is not ready, once its server keys have been polled. */
  const waited = async (url: string): Promise<string> => (await unready(url, /no segment/)).body;
  const elsewhere = async (): Promise<string> => waited(await other.url());
  const unset = (context: Mocha.Context): Promise<string> => {
    const isTaken = DEFAULT_KEYS.some((key) => existsSync(`/dev/shm/shmApp.pool.${key}`));
    needs(context, !isTaken, 'another program publishes under a default server key');
    return waited(bareUrl);
  };

  shows('2.1 context_id', () => {
    it('the default context_id is "shmApp"', async function () {
      expect(await unset(this)).to.contain('no segment shmApp.pool.82 in shared memory');
    });

    it('context_id is the first part of the name of a segment', async () => {
      expect(programs.segments()).to.include(`${programs.contextId}.pool.999`);
      expect(application(await readyFrom(unlimited))).to.deep.equal(shopSeries('shop', 9));
      expect(await elsewhere()).to.contain('no segment elsewhere.pool.5 ');
    });
  });

  shows('2.1 pool_name', () => {
    it('the default pool_name is "pool"', async function () {
      expect(await unset(this)).to.contain(' shmApp.pool.82 ');
    });

    it('pool_name is the second part of the name of a segment', async () => {
      expect(programs.segments()).to.include(`${programs.contextId}.puddle.1`);
      expect(application(await readyPage(placedUrl))).to.deep.equal(seriesBelow(7, 'till.drawer'));
    });
  });

  shows('2.1 app', () => {
    it('the default app is "ads"', async function () {
      expect(await unset(this)).to.contain('waiting on a root of application ads; ');
    });

    for (const app of ['ads', 'adh', 'ats'] as const)
      it(`app can be "${app}", and the page has the metrics of its catalogue`, () => {
        expect(targetOf(pages.get(app) ?? '')['app']).to.equal(app);
        const names = namesOf(app);
        expect(names.every((name) => name.startsWith(`${app}_`))).to.be.true;
        expect(names).to.include(`${app}_process_pid{}`);
      });
  });

  shows('2.1 instance', () => {
    it('without an instance, the exporter selects the first matching root', async () =>
      expect(targetOf(await readyFrom(unlimited))['root']).to.equal('h.9.shop'));
  });

  for (const [instance, path, objects] of [
    ['2', '@root', ['@root']],
    ['h.2.shop', 'till', ['till', 'till.drawer']],
  ] as const)
    shows(['2.1 instance', '2.1 seed_paths'], () => {
      it(`the instance "${instance}" selects the root h.2.shop, and the seed path "${path}" selects the variables of ${objects.join(' and ')}`, async () => {
        const hinted = exporter({ server_keys: ['1'], instance, seed_paths: [path] });
        const page = await readyFrom(hinted);
        expect(targetOf(page)['root']).to.equal('h.2.shop');
        expect(application(page)).to.deep.equal(seriesBelow(2, ...objects));
      });
    });

  shows('2.1 classes', () => {
    it('the metrics and the tracked objects belong only to the configured classes', async () => {
      expect(prefixesOf('ads')).to.have.members(['ads_process', 'ads_mounts', 'ads_streams']);
      await exporters.get('ads')?.line(/ ready: 3 objects, /);
    });

    it('by default, classes is empty and limits nothing', async () => {
      expect(prefixesOf('adh')).to.include.members(['adh_process', 'adh_server', 'adh_service']);
      const [, tracked = ''] = (await exporters.get('adh')?.line(/ ready: (\d+) objects, /)) ?? [];
      expect(Number(tracked)).to.be.above(20);
    });
  });

  shows('2.1 seed_path_groups', () => {
    it('the metrics belong only to the paths of the configured groups', () =>
      expect(prefixesOf('ats')).to.have.members(['ats_process', 'ats_shm', 'ats_resiliency']));
  });

  shows('2.1 seed_paths', () => {
    it('the seed path "till.drawer" selects the variables of till.drawer', async () =>
      expect(application(await readyPage(placedUrl))).to.deep.equal(seriesBelow(7, 'till.drawer')));
  });

  shows('1.3.2', () => {
    it('while no server key has a root, the answer to a scrape names every server key', async () => {
      for (const key of ['5', '7'])
        expect(await elsewhere()).to.contain(`no segment elsewhere.pool.${key} `);
    });
  });

  shows('2.1 server_keys', () => {
    it('the default server keys are 82, 456 and 999', async function () {
      for (const key of DEFAULT_KEYS)
        expect(await unset(this)).to.contain(`server key ${key}: no segment shmApp.pool.${key} `);
      const page = await readyFrom(unlimited);
      expect(targetOf(page)).to.include({ server_key: '999', root: 'h.9.shop' });
    });

    it('the exporter reads exactly the configured server keys', async () => {
      const text = await elsewhere();
      expect(text.match(/server key \d+/g)).to.deep.equal(['server key 5', 'server key 7']);
    });
  });

  shows('2.1 debug', () => {
    it('debug is false by default', () => expect(bare.stderr).not.to.contain(' debug '));

    describe('debug = true', () => {
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

      it('logs the server keys and the selected root of each scrape', async () => {
        await talking.line(/ debug target shop on 1 lookup: server key 1 live; root h\.1\.shop\n/);
        await talking.line(/ debug target shop on 5 lookup: server key 5 absent; no root\n/);
      });

      it('logs the result of each scrape', () =>
        talking.line(/ debug target shop on 1 rendered 3 series, \d+ bytes\n/));
    });
  });

  shows('2.1 metrics_http_enabled', () => {
    it('by default, metrics_http_enabled is false and nothing listens', () =>
      expect(listening(printing.pid)).to.deep.equal([]));

    it('metrics_http_enabled = true starts the listener', async () => {
      const { host } = new URL(await unlimited.url());
      expect(listening(unlimited.pid)).to.deep.equal([host]);
    });
  });

  shows('2.1 metrics_bind_address', () => {
    it('the default address is 0.0.0.0', () =>
      expect(listening(bare.pid)).to.deep.equal([`0.0.0.0:${new URL(bareUrl).port}`]));

    it('the listener has only the configured address', async () => {
      // Read the exporter's sockets. A request to another address proves nothing: another process may listen
      // on this port there.
      expect(listening(placed.pid)).to.deep.equal([`127.0.0.2:${metrics_port}`]);
      await readyPage(placedUrl);
    });
  });

  shows('2.1 metrics_port', () => {
    it('the default port is 9464', async () => {
      // The port is in use now: by this listener, or already by another process.
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

    it('the listener has the configured port', () => {
      expect(new URL(placedUrl).port).to.equal(String(metrics_port));
      expect(listening(placed.pid)).to.deep.equal([`127.0.0.2:${metrics_port}`]);
    });
  });

  shows('2.1 metrics_path', () => {
    it('the default path is /metrics', () =>
      expect(new URL(bareUrl).pathname).to.equal('/metrics'));

    it('only the configured path serves the metrics', async () => {
      expect(new URL(placedUrl).pathname).to.equal('/here/it-is');
      await readyPage(placedUrl);
      expect((await scrape(new URL('/metrics', placedUrl).href)).status).to.equal(404);
    });
  });

  shows('8 metrics_interval_seconds', () => {
    it('by default, the exporter prints the first snapshot after 10 s', async () => {
      const line = await waitFor('a snapshot', () => /^# snapshot .*\n/.exec(printing.stdout)?.[0]);
      expect(line).to.contain('scrape not ready: ');
      const [, printed = ''] = / time=(\S+) /.exec(line) ?? [];
      const [started = ''] = printing.stderr.split(' ');
      expect(Date.parse(printed) - Date.parse(started)).to.be.within(9900, 19_000);
    });

    it('the exporter prints no snapshot when HTTP is enabled', () =>
      expect(bare.stdout).to.equal(''));
  });
});
