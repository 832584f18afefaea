// Tests programs that import the entry prom-client of the publisher's package in place of prom-client.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { contentOf } from '../support/page-content.js';
import { PROJECT, testPrograms, waitFor } from '../support/processes.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { uniqueName } from '../support/test-run.js';
import { applicationPart, pageWith, readyPage, scrape, seriesKey } from './page.js';

/** A server with metrics, which serves them itself as well. `LIBRARY` is the only word that differs. */
const SERVER = `
const { createServer } = require('node:http');
const client = require('LIBRARY');
const { Counter, Histogram, Summary, collectDefaultMetrics, register } = client;
collectDefaultMetrics({ prefix: 'web_' });
register.setDefaultLabels({ region: 'north' });
const requests = new Counter({ name: 'web_requests_total', help: 'Requests.', labelNames: ['path', 'code'] });
const seconds = new Histogram({ name: 'web_seconds', help: 'Duration.', labelNames: ['path'] });
const bytes = new Summary({ name: 'web_bytes', help: 'Size.', percentiles: [0.5] });
const server = createServer(async (request, response) => {
  if (request.url === '/metrics') {
    response.setHeader('content-type', register.contentType);
    response.end(await register.metrics());
    return;
  }
  requests.inc({ path: request.url, code: 200 });
  seconds.labels(request.url).observe(0.25);
  bytes.observe(request.url.length);
  response.end('served');
});
server.listen(0, '127.0.0.1', () => console.error('port ' + server.address().port));
`;
/** Series of the process itself, whose values differ between two scrapes. */
const isOwn = (sample: string): boolean => !/^\["web_(process|nodejs)_/.test(sample);
/** The headers that do not depend on whether the process has collected garbage. */
const isAlways = (header: string): boolean => !header.includes('nodejs_gc_duration');

describe('A program that changes one import, from prom-client to that of the publisher', function () {
  this.timeout(120_000).slow(10_000);
  const programs = testPrograms();
  const folder = temporaryFolder();
  /** Server keys in the default context, which the environment implies. */
  const key = uniqueName();
  after(() => {
    rmSync(`/dev/shm/shmApp.pool.${key}`, { force: true });
  });
  beforeEach(() => {
    mkdirSync(folder.path('node_modules'));
    symlinkSync(join(PROJECT, 'dist/shm-publisher'), folder.path('node_modules/shm-publisher'));
    symlinkSync(join(PROJECT, 'node_modules/prom-client'), folder.path('node_modules/prom-client'));
  });
  const environment = (serverKey = key) => [
    'env',
    `PROMETHEUS_SHM_SERVER_KEY=${serverKey}`,
    'PROMETHEUS_SHM_APP=web',
  ];
  const server = async (library: string, words: readonly string[] = []) => {
    const file = folder.write(`${words.length}.cjs`, SERVER.replace('LIBRARY', library));
    const program = programs.command([...words, process.execPath, file]);
    const [, port = ''] = await program.line(/^port (\d+)$/m);
    return { program, url: `http://127.0.0.1:${port}` };
  };
  const exporter = (settings: object) =>
    programs.exporter({ app: 'web', context_id: 'shmApp', ...settings }).url();

  it('is shown as prom-client shows it, with its default metrics, and serves its own page as before', async () => {
    const [own, other] = [
      await server('shm-publisher/prom-client', environment()),
      await server('prom-client'),
    ];
    for (const { url } of [own, other])
      for (const path of ['/', '/pay', '/', '/missing']) await scrape(url + path);
    const expected = contentOf((await scrape(`${other.url}/metrics`)).body);
    const served = contentOf((await scrape(`${own.url}/metrics`)).body);
    expect(served.headers.filter(isAlways)).to.deep.equal(expected.headers.filter(isAlways));
    expect(served.samples.filter(isOwn)).to.deep.equal(expected.samples.filter(isOwn));
    const url = await exporter({ server_keys: [key] });
    // The default metrics are copied, and quantiles stored, at an interval.
    const page = await waitFor('all samples', async () => {
      const shown = contentOf(applicationPart(await readyPage(url)));
      const own = shown.samples.filter(isOwn);
      return JSON.stringify(own) === JSON.stringify(expected.samples.filter(isOwn))
        ? shown
        : undefined;
    });
    expect(page.headers.join()).to.include('web_process_resident_memory_bytes');
    expect(await own.program.stop('SIGKILL')).to.have.property('signal', 'SIGKILL');
    await waitFor('503', async () => ((await scrape(url)).status === 503 ? true : undefined));
    const again = await server('shm-publisher/prom-client', environment());
    await scrape(`${again.url}/again`);
    await pageWith(
      url,
      (series) =>
        [...series].some(
          ([name, value]) => /^web_requests_total.*"\/again"/.test(name) && value === '1',
        ),
      'the metrics of the next process',
    );
  });

  it('has a segment for each process of a cluster, which the exporter sums', async () => {
    const file = folder.write(
      'cluster.cjs',
      `const cluster = require('node:cluster');
      const { Counter, collectDefaultMetrics } = require('shm-publisher/prom-client');
      collectDefaultMetrics();
      if (cluster.isPrimary) for (let i = 0; i < 3; i++) cluster.fork();
      else {
        new Counter({ name: 'jobs_total', help: 'Jobs.' }).inc(5);
        process.once('SIGTERM', () => process.exit());
        setInterval(() => undefined, 60_000);
      }
      process.once('SIGTERM', () => process.exit());`,
    );
    programs.command([...environment(`${key}c`), process.execPath, file]);
    const url = await exporter({
      server_keys: ['all'],
      format: 'workers',
      'format_settings.segments': [`${key}c-*`],
    });
    const page = await pageWith(
      url,
      (series) => series.get(seriesKey('jobs_total', {})) === '15',
      'the sum of three workers',
    );
    const { version } = process;
    const [major = '', minor = '', patch = ''] = version.slice(1).split('.');
    const labels = { version, major, minor, patch };
    expect(page.get(seriesKey('nodejs_version_info', labels))).to.equal('1');
    expect(Number(page.get(seriesKey('process_start_time_seconds', {})))).to.be.below(
      Date.now() / 1000,
    );
  });

  it('goes on if the environment names no possible server key, and one line on stderr says so', () => {
    const file = folder.write(
      'wrong.cjs',
      `const { Counter } = require('shm-publisher/prom-client');
      new Counter({ name: 'c_total', help: 'H.' }).inc();
      console.log('done');`,
    );
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
      encoding: 'utf8',
      env: { ...process.env, PROMETHEUS_SHM_SERVER_KEY: 'a/b', PROMETHEUS_SHM_APP: 'web' },
    });
    expect({ status, stdout }).to.deep.equal({ status: 0, stdout: 'done\n' });
    expect(stderr).to.match(
      /^shm-publisher: PROMETHEUS_SHM_SERVER_KEY and PROMETHEUS_SHM_APP: the metrics are not published: .*serverKey: found "a\/b".*\n$/,
    );
  });

  it('needs prom-client only for the parts that come from it', () => {
    rmSync(folder.path('node_modules'), { recursive: true });
    mkdirSync(folder.path('node_modules'));
    const target = folder.path('node_modules/shm-publisher');
    cpSync(join(PROJECT, 'dist/shm-publisher'), target, { recursive: true });
    const file = folder.write(
      'alone.mjs',
      `import client, { Counter, collectDefaultMetrics } from 'shm-publisher/prom-client';
      new Counter({ name: 'c_total', help: 'H.' }).inc();
      console.log(await client.register.metrics());
      console.log(client.contentType, client.default === undefined, client.Counter === Counter);
      try { collectDefaultMetrics(); } catch (error) { console.log(error.message); }`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    expect(stderr).to.equal('');
    expect(stdout).to.equal(
      '# HELP c_total H.\n# TYPE c_total counter\nc_total 1\n\n' +
        'text/plain; version=0.0.4; charset=utf-8 true true\n' +
        'collectDefaultMetrics needs the package prom-client, version 15: npm install prom-client\n',
    );
  });

  it('compiles with the types of prom-client', () => {
    const text = `import client, { Counter, Gauge, Histogram, Registry, Summary } from 'LIBRARY';
import type { CounterConfiguration, LabelValues } from 'LIBRARY';
const configuration: CounterConfiguration<'code'> = { name: 'c', help: 'h', labelNames: ['code'] };
const counter = new Counter(configuration);
const labels: LabelValues<'code'> = { code: 200 };
counter.inc(labels, 2);
counter.labels('200').inc();
counter.labels({ code: 200 }).inc();
// @ts-expect-error: a label that was not declared
counter.inc({ path: '/' });
const registry = new Registry();
new Gauge({ name: 'g', help: 'h', registers: [registry], collect() { this.set(1); } });
const end = new Histogram({ name: 'h', help: 'h', buckets: client.linearBuckets(0, 1, 3) }).startTimer();
const seconds: number = end();
new Summary({ name: 's', help: 'h', percentiles: [0.5], maxAgeSeconds: 60, ageBuckets: 5 }).observe(seconds);
let named: client.Counter<'code'> = counter;
named = new client.Counter(configuration);
registry.metrics().then((page: string) => page.length);
client.collectDefaultMetrics({ register: registry, prefix: 'a_' });
`;
    const files = ['shop.mts', 'shop.cts'].map((file) =>
      folder.write(file, text.replaceAll('LIBRARY', 'shm-publisher/prom-client')),
    );
    const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc');
    const words = ['--strict', '--skipLibCheck', 'false', '--lib', 'es2023', '--target', 'es2023'];
    const more = ['--module', 'nodenext', '--esModuleInterop', '--noEmit'];
    const { stdout } = spawnSync(process.execPath, [tsc, ...words, ...more, ...files], {
      cwd: folder.path(),
      encoding: 'utf8',
    });
    expect(stdout).to.equal('');
  });
});
