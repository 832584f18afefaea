// Tests SIGHUP: targets, scopes and filters change while the exporter serves.
import { expect } from 'chai';
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, delay, waitFor, testPrograms } from '../support/processes.js';
import { applicationPart, pageWith, readyPage, scrape, seriesKey, seriesOf } from './page.js';
import type { Reply } from './page.js';

interface TargetText {
  readonly key: string;
  readonly seedPaths?: readonly string[];
}

describe('a reload by SIGHUP', function () {
  this.slow(5000);
  const programs = testPrograms();
  const KEYS = ['1', '2', '3'];
  before(() => {
    for (const key of KEYS)
      programs.publish({
        context_id: programs.contextId,
        server_key: key,
        objects: [
          { id: 'H.1.shop', class: 'Shop', variables: { x: { type: 'u64', value: Number(key) } } },
          {
            id: 'H.1.shop.till',
            parent: 'H.1.shop',
            class: 'Till',
            variables: { y: { type: 'u64', value: 7 } },
          },
        ],
      });
  });

  const targets = (...all: readonly TargetText[]): string =>
    all
      .map(
        ({ key, seedPaths = [] }) =>
          `[[targets]]\napp = "shop"\nserver_key = "${key}"\nseed_paths = ${JSON.stringify(seedPaths)}\n`,
      )
      .join('');
  const scope = (name: string, ...metrics: readonly string[]): string =>
    `[[metric_scopes]]\nname = "${name}"\nmetrics = ${JSON.stringify(metrics)}\n`;

  /** Starts an exporter, whose configuration file the test changes and reloads. */
  const start = async (more: string, settings = {}) => {
    const path = programs.config(settings, more);
    const exporter = programs.start('exporter', ['--config', path]);
    const url = await exporter.url();
    let said = 0;
    /** Sends SIGHUP, and resolves with what the exporter then logs. */
    const hangUp = async (answer: RegExp): Promise<string> => {
      const from = said;
      exporter.signal('SIGHUP');
      const text = await waitFor(`stderr has ${answer.source}`, () => {
        const news = exporter.stderr.slice(from);
        return answer.test(news) ? news : undefined;
      });
      said = exporter.stderr.length;
      return text;
    };
    const rewrite = (text: string) => {
      writeFileSync(path, programs.settings(settings) + text);
      return hangUp(/configuration reloaded/);
    };
    const page = (key: string) => `${url}?server_key=${key}`;
    return { exporter, path, url, page, hangUp, rewrite };
  };

  it('adds, removes and changes targets, filters and scopes', async () => {
    const { exporter, url, page, rewrite } = await start(
      targets({ key: '1' }, { key: '2' }) + scope('some', 'shop_root_*'),
    );
    await readyPage(page('1'));
    await readyPage(page('2'));
    expect((await scrape(page('3'))).status).to.equal(404);
    expect((await scrape(`${url}/few?server_key=1`)).status).to.equal(404);

    expect(
      await rewrite(
        targets({ key: '3' }, { key: '1', seedPaths: ['@root'] }) + scope('few', '*_x'),
      ),
    ).to.contain('configuration reloaded: 2 targets, 1 scope');
    const till = seriesKey('shop_till_y', { object: 'till' });
    await pageWith(
      page('1'),
      (series) => !series.has(till),
      'the series that is filtered out ends',
    );
    await pageWith(page('3'), (series) => series.has(till), 'the new target is there');
    expect((await scrape(page('2'))).status).to.equal(404);
    expect((await scrape(`${url}/some?server_key=1`)).status).to.equal(404);
    const few = await scrape(`${url}/few?server_key=1`);
    expect([...seriesOf(few.body).keys()]).to.deep.equal([
      seriesKey('shop_x', { object: '@root' }),
    ]);
    await exporter.stop();
  });

  it('changes nothing if the file has mistakes, and reports every mistake', async () => {
    const { exporter, path, page, hangUp, rewrite } = await start(targets({ key: '1' }));
    await readyPage(page('1'));
    writeFileSync(path, `${programs.settings()}debg = true\ntarget_workers = 65\n`);
    const said = await hangUp(/target_workers: .*\n/);
    expect(said).to.contain('configuration not reloaded; the previous one stays in use:');
    expect(said).to.match(/:\d+:\d+: debg: unknown key/);
    expect(said).to.contain('target_workers: found 65');
    expect((await scrape(page('1'))).status).to.equal(200);

    writeFileSync(path, 'app = "demo"\n  port = [1 2]\n');
    const broken = await hangUp(/expected "," .*\n/);
    expect(broken).to.match(/:2:13: expected "," or "\]", found "2"\n/);
    expect(broken.trimEnd().split('\n'), 'a line each').to.have.lengthOf(2);

    rmSync(path);
    expect(await hangUp(/not reloaded[^]*\n.*config-/)).to.contain(path);
    expect((await scrape(page('1'))).status).to.equal(200);

    await rewrite(targets({ key: '1' }, { key: '2' }));
    await readyPage(page('2'));
    await exporter.stop();
  });

  it('updates the metrics that show its success and the hash of the configuration', async () => {
    const { exporter, path, url, hangUp, rewrite } = await start(targets({ key: '1' }));
    const own = new URL('/-/metrics', url).href;
    const metric = async (name: string) =>
      Number(
        new RegExp(`^shm_exporter_config_${name} (.*)$`, 'm').exec((await scrape(own)).body)?.[1],
      );
    expect(await metric('last_reload_successful')).to.equal(1);
    const [taken, hash] = [
      await metric('last_reload_success_timestamp_seconds'),
      await metric('hash'),
    ];
    expect(taken).to.be.within(Date.now() / 1000 - 60, Date.now() / 1000);

    writeFileSync(path, 'debg = true\n');
    await hangUp(/not reloaded/);
    expect(await metric('last_reload_successful')).to.equal(0);
    expect(await metric('last_reload_success_timestamp_seconds')).to.equal(taken);
    expect(await metric('hash')).to.equal(hash);

    await rewrite(targets({ key: '2' }));
    expect(await metric('last_reload_successful')).to.equal(1);
    expect(await metric('last_reload_success_timestamp_seconds')).to.be.greaterThan(taken);
    expect(await metric('hash')).not.to.equal(hash);
    await exporter.stop();
  });

  it('has the same effect as POST /-/reload, which http_reload_enabled allows', async () => {
    const settings = { http_reload_enabled: true };
    const { exporter, path, url } = await start(targets({ key: '1' }), settings);
    const post = () => fetch(new URL('/-/reload', url), { method: 'POST' });
    writeFileSync(path, programs.settings(settings) + targets({ key: '2' }));
    const taken = await post();
    expect([taken.status, await taken.text()]).to.deep.equal([200, 'configuration reloaded\n']);
    await readyPage(`${url}?server_key=2`);
    writeFileSync(
      path,
      programs.settings({ ...settings, target_workers: 3 }) + targets({ key: '2' }),
    );
    expect(await (await post()).text()).to.equal(
      'configuration reloaded\ntarget_workers changed: the change takes effect at the next start\n',
    );
    const none = { ...settings, license_file: '/nonexistent/license.json' };
    writeFileSync(path, programs.settings(none) + targets({ key: '1' }));
    const unlicensed = await post();
    expect(unlicensed.status).to.equal(500);
    expect(await unlicensed.text()).to.match(/license_file .*cannot be read/);
    expect((await scrape(`${url}?server_key=2`)).status).to.equal(200);
    writeFileSync(path, 'debg = true\n');
    const refused = await post();
    expect(refused.status).to.equal(500);
    expect(await refused.text()).to.match(
      /^configuration not reloaded:\n.*:1:1: debg: unknown key/,
    );
    await exporter.stop();
  });

  it('logs the changed settings that take effect only at the next start', async () => {
    const { exporter, path, hangUp } = await start(targets({ key: '1' }));
    const changed = { target_workers: 3, metrics_path: '/other', render_min_interval_ms: 100 };
    writeFileSync(path, programs.settings(changed) + targets({ key: '1' }));
    const said = await hangUp(/configuration reloaded/);
    const named = [...said.matchAll(/(\w+) changed: the change takes effect at the next start/g)];
    expect(named.map(([, key]) => key)).to.have.members(['target_workers', 'metrics_path']);
    await exporter.stop();
  });

  it('keeps the single target of --server-key, whatever targets the changed file has', async () => {
    const path = programs.config({ app: 'shop' });
    const exporter = programs.start('exporter', ['--config', path, '--server-key', '2']);
    const url = await exporter.url();
    await readyPage(url);
    writeFileSync(path, programs.settings({ app: 'shop' }) + targets({ key: '1' }, { key: '3' }));
    exporter.signal('SIGHUP');
    await exporter.line(/configuration reloaded: 1 target/);
    const { status, body } = await scrape(url);
    expect(status).to.equal(200);
    expect(seriesOf(body).get(seriesKey('shop_x', { object: '@root' }))).to.equal('2');
    await exporter.stop();
  });

  describe('under load', () => {
    const [RELOADS, PERIOD_MS, EVERY_MS] = [10, 20, 250];
    const X = seriesKey('shop_x', { object: '@root' });

    /** Scrapes the URLs in turn at fixed intervals, until `stop` is called. */
    const load = (urls: readonly string[]) => {
      const replies: Promise<readonly [string, Reply]>[] = [];
      const timer = setInterval(() => {
        const url = urls[replies.length % urls.length] ?? '';
        replies.push(scrape(url).then((reply) => [url, reply] as const));
      }, PERIOD_MS);
      return {
        stop: () => {
          clearInterval(timer);
          return Promise.all(replies);
        },
      };
    };

    it(`fails no scrape of an unchanged target in ${RELOADS} repetitions, and each page is complete`, async () => {
      const stay = [{ key: '1' }, { key: '2', seedPaths: ['@root'] }];
      const { exporter, url, page, rewrite } = await start(
        targets(...stay, { key: '3' }) + scope('always', 'shop_*'),
        { render_min_interval_ms: 10 },
      );
      const urls = [page('1'), page('2'), `${url}/always?server_key=2`];
      await Promise.all(urls.map((each) => readyPage(each)));
      const { stop } = load(urls);
      for (let reload = 0; reload < RELOADS; reload++) {
        const isOdd = reload % 2 === 1;
        const changing = { key: '2', seedPaths: isOdd ? ['@root'] : [] };
        const coming = isOdd ? [{ key: '3' }] : [];
        await rewrite(
          targets(...coming, { key: '1' }, changing) +
            scope('always', isOdd ? 'shop_*' : 'shop*') +
            (isOdd ? scope('sometimes', '*') : ''),
        );
        await delay(EVERY_MS);
      }
      const replies = await stop();
      expect(replies.length).to.be.greaterThan((RELOADS * EVERY_MS) / PERIOD_MS / 2);
      const seen = new Set<string>();
      for (const [where, { status, headers, body }] of replies) {
        expect(status, body).to.equal(200);
        expect(Buffer.byteLength(body)).to.equal(Number(headers['content-length']));
        const isScoped = where.includes('/always');
        if (!isScoped) expect(body).to.match(/shm_exporter_target_info\{[^\n]*\} 1\n$/);
        const series = seriesOf(body);
        expect(series.get(X)).to.equal(where.endsWith('1') ? '1' : '2');
        const application = isScoped ? body : applicationPart(body);
        seen.add(`${where.slice(url.length)} ${seriesOf(application).size}`);
      }
      expect([...seen].sort()).to.deep.equal([
        '/always?server_key=2 1',
        '/always?server_key=2 2',
        '?server_key=1 2',
        '?server_key=2 1',
        '?server_key=2 2',
      ]);
      expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });
    });
  });

  it('does not interrupt targets if the files of the program were removed', async () => {
    const program = programs.path('program');
    for (const name of ['dist', 'package.json'])
      cpSync(join(PROJECT, name), join(program, name), { recursive: true });
    symlinkSync(join(PROJECT, 'node_modules'), join(program, 'node_modules'));
    programs.simulate('--app', 'ads', '--server-key', 'ads', '--objects', '40', '--rate', '0');
    const config = programs.config({ app: 'ads', server_keys: ['ads'] });
    const exporter = programs.command([
      ...[process.execPath, join(program, 'dist/bin/shm_exporter.js'), '--config', config],
    ]);
    const url = await exporter.url();
    const before = applicationPart(await readyPage(url));
    rmSync(program, { recursive: true });
    exporter.signal('SIGHUP');
    await exporter.line(/configuration reloaded/);
    expect(applicationPart(await readyPage(url))).to.equal(before);
    expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });
  });
});
