// Tests the pages of directories that real libraries wrote.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { differences } from '../multiprocess/compared-pages.js';
import { targetOf } from '../multiprocess/gunicorn-trial.js';
import {
  RECORDED_DIRECTORIES,
  extractRecorded,
  recordedFamilies,
} from '../multiprocess/recorded-directories.js';
import { applicationFamilies } from '../multiprocess/shown-page.js';
import { freePort } from '../support/free-port.js';
import { GunicornShop } from '../support/gunicorn-shop.js';
import { PYTHON_0_21, RUBY, needsLibraries } from '../support/metric-libraries.js';
import { needsPrograms } from '../support/needs.js';
import { needsNewer, newer } from '../support/newer-programs.js';
import { PROJECT, delay, testPrograms, waitFor } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { applicationPart, pageWith, promtoolLines, readyPage } from './page.js';

/** Values at moments in Unix seconds. */
interface Matrix {
  readonly data: {
    readonly result: readonly {
      readonly values: readonly (readonly [seconds: number, value: string])[];
    }[];
  };
}

describe('an exporter of metric files', function () {
  this.slow(30_000);
  const programs = testPrograms();

  // With the default interval, a scrape may get the render of the scrape before.
  const serve = (directory: string): Promise<string> => {
    const config = programs.config({ render_min_interval_ms: 1 }, targetOf(directory));
    return programs.start('exporter', ['--config', config]).url();
  };

  for (const recorded of RECORDED_DIRECTORIES)
    it(`serves the page that ${recorded.name} makes`, async () => {
      const directory = extractRecorded(recorded, programs.path(recorded.name));
      const page = applicationPart(await readyPage(await serve(directory)));
      expect(differences(recordedFamilies(recorded), applicationFamilies(page))).to.deep.equal([]);
    });

  it('passes the linter of Prometheus', async function () {
    needsPrograms(this, 'promtool');
    needsLibraries(this, PYTHON_0_21);
    const shop = await GunicornShop.start(programs, PYTHON_0_21, { name: 'lint' });
    for (let requests = 0; requests < 4; requests++) await shop.request();
    const page = applicationPart(await readyPage(await serve(shop.directory)));
    expect(page).to.contain('shop_requests_total{');
    expect(promtoolLines(page)).to.deep.equal([]);
    await shop.end();
  });

  it('drops the live gauges of a killed Ruby process, by its lock, and keeps its counter', async function () {
    needsLibraries(this, RUBY);
    const directory = programs.path('ruby');
    mkdirSync(directory);
    const env = { ...RUBY.env, prometheus_multiproc_dir: directory };
    const under = ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
    const script = join(PROJECT, 'test/multiprocess/hold.rb');
    const start = async (id: string): Promise<Running> => {
      const running = programs.command([...RUBY.program, script, id], { under });
      await running.line(/^ready$/m);
      return running;
    };
    const [victim] = [await start('puma_0'), await start('puma_1')];
    const url = await serve(directory);
    const shows = (series: Readonly<Record<string, string | undefined>>): Promise<unknown> =>
      pageWith(
        url,
        (seen) => Object.entries(series).every(([key, value]) => seen.get(key) === value),
        JSON.stringify(series),
      );
    const busy = (id: string): string => `shop_busy{"pid":"${id}"}`;
    await shows({ [busy('puma_0')]: '1', [busy('puma_1')]: '1', 'shop_threads{}': '10' });
    await victim.stop('SIGKILL');
    await shows({
      ...{ [busy('puma_0')]: undefined, [busy('puma_1')]: '1', 'shop_threads{}': '5' },
      'shop_jobs_total{}': '4',
    });
    expect(readdirSync(directory)).to.include('gauge_liveall_puma_0-0.db');
    // The exporter held no lock, so the next process with this identifier takes the same files.
    await start('puma_0');
    await shows({ [busy('puma_0')]: '1', 'shop_threads{}': '10' });
    expect(readdirSync(directory).filter((name) => !name.endsWith('-0.db'))).to.deep.equal([]);
  });

  it('gives Prometheus the number of requests at each moment, although workers end', async function () {
    this.timeout(180_000);
    needsNewer(this, 'prometheus');
    needsLibraries(this, PYTHON_0_21);
    const options = { name: 'rates', maxRequests: 40 };
    const shop = await GunicornShop.start(programs, PYTHON_0_21, options);
    const url = await serve(shop.directory);
    await readyPage(url);
    const prometheus = await startPrometheus(url);
    /** How many requests were sent and answered, at moments in Unix seconds. */
    const sent: [seconds: number, sent: number, answered: number][] = [];
    for (let requests = 0; requests < 400; requests++) {
      sent.push([Date.now() / 1000, shop.sent, shop.answered]);
      await shop.request();
      if (requests % 50 === 49) shop.removeFiles(shop.deadFiles());
      await delay(10);
    }
    sent.push([Date.now() / 1000, shop.sent, shop.answered]);
    const points = await waitFor('Prometheus has all requests', async () => {
      const all = await stored(prometheus);
      return all.at(-1)?.[1] === 400 ? all : undefined;
    });
    const resets = await query(prometheus, 'sum(resets(shop_requests_total[10m]))');
    expect(resets).to.deep.equal([0]);
    expect(points.length).to.be.greaterThan(3);
    for (const [seconds, value] of points) {
      // Prometheus stores the time at which a scrape begins. The values may be newer.
      const least = sent.filter(([at]) => at <= seconds).at(-1)?.[2] ?? 0;
      const most = sent.find(([at]) => at >= seconds + SCRAPE_SECONDS)?.[1] ?? 400;
      expect(value, String(seconds)).to.be.within(least, most);
    }
    await shop.end();
  });

  const SCRAPE_SECONDS = 5;

  async function startPrometheus(url: string): Promise<string> {
    const file = programs.write(
      'prometheus.yml',
      `global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - job_name: shm
    static_configs: [{ targets: ['${new URL(url).host}'] }]
`,
    );
    const port = await freePort();
    programs.command([
      newer('prometheus'),
      `--config.file=${file}`,
      `--storage.tsdb.path=${programs.path('prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    const prometheus = `http://127.0.0.1:${port}`;
    await waitFor('Prometheus has the target', async () => {
      const up = await query(prometheus, 'up').catch(() => []);
      return up[0] === 1 ? true : undefined;
    });
    return prometheus;
  }

  interface Vector {
    readonly data: {
      readonly result: readonly { readonly value: readonly [number, string] }[];
    };
  }

  async function ask(prometheus: string, path: string, words: Record<string, string>) {
    const response = await fetch(
      `${prometheus}/api/v1/${path}?${new URLSearchParams(words).toString()}`,
    );
    if (response.status !== 200) throw new Error(await response.text());
    return response.json();
  }

  async function query(prometheus: string, expression: string): Promise<number[]> {
    const { data } = (await ask(prometheus, 'query', { query: expression })) as Vector;
    return data.result.map(({ value }) => Number(value[1]));
  }

  /** The number of requests at each scrape. */
  async function stored(prometheus: string): Promise<(readonly [seconds: number, sum: number])[]> {
    const words = { query: 'shop_requests_total[10m]' };
    const { data } = (await ask(prometheus, 'query', words)) as Matrix;
    const sums = new Map<number, number>();
    for (const { values } of data.result)
      for (const [seconds, value] of values)
        sums.set(seconds, (sums.get(seconds) ?? 0) + Number(value));
    return [...sums].toSorted(([a], [b]) => a - b);
  }
});
