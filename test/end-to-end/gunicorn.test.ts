// Tests the metrics of real Gunicorn workers that end, are killed, and lose their files.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { targetOf, tryGunicorn } from '../multiprocess/gunicorn-trial.js';
import { GunicornShop } from '../support/gunicorn-shop.js';
import { PYTHON_0_16, PYTHON_0_21, needsLibraries } from '../support/metric-libraries.js';
import { testPrograms, waitFor } from '../support/processes.js';
import { pageWith } from './page.js';

describe('an exporter of Gunicorn workers', function () {
  this.slow(30_000);

  for (const library of [PYTHON_0_16, PYTHON_0_21])
    describe(`with ${library.name}`, () => {
      const programs = testPrograms();

      it('has counters that never fall, and that count each request once', async function () {
        needsLibraries(this, library);
        const trial = { seconds: 5, killEveryMs: 1000, removeEveryMs: 300 };
        const { wrong, workers, removedFiles } = await tryGunicorn(programs, library, trial);
        expect(wrong).to.deep.equal([]);
        expect(workers).to.be.greaterThan(4);
        expect(removedFiles).to.be.greaterThan(0);
      });

      it('has the process of each worker, and drops the live gauges of a killed one', async function () {
        needsLibraries(this, library);
        const shop = await GunicornShop.start(programs, library, { name: 'live' });
        for (let requests = 0; requests < 20; requests++) await shop.request();
        const config = programs.config({ render_min_interval_ms: 1 }, targetOf(shop.directory));
        const url = await programs.start('exporter', ['--config', config]).url();
        const pidsOf = (name: string, series: ReadonlyMap<string, string>): number[] =>
          [...series.keys()].flatMap((key) => {
            const [, pid] = new RegExp(`^${name}\\{"pid":"(\\d+)"\\}$`).exec(key) ?? [];
            return pid === undefined ? [] : [Number(pid)];
          });
        /** Waits for a page with these live gauges and processes, and no others. */
        const pageOf = (pids: () => readonly number[]): Promise<ReadonlyMap<string, string>> =>
          pageWith(
            url,
            (series) =>
              ['shop_stock_cache_items', 'process_start_time_seconds'].every(
                (name) => String(pidsOf(name, series).sort()) === String([...pids()].sort()),
              ),
            'the page has the live workers',
          );
        const before = await pageOf(() => shop.workers());
        for (const pid of shop.workers()) {
          const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
          const shown = Number(before.get(`process_resident_memory_bytes{"pid":"${pid}"}`));
          // The kernel counts the pages of a process in batches for each processor.
          expect(shown / 1024 / Number(kb)).to.be.closeTo(1, 0.2);
        }
        const [victim] = shop.workers();
        await shop.killWorker(0);
        await waitFor('another worker starts', () =>
          shop.workers().length === 4 ? true : undefined,
        );
        const after = await pageOf(() => shop.workers());
        expect(shop.workers()).not.to.include(victim);
        expect(shop.deadFiles()).not.to.be.empty;
        const requests = [...after].filter(([key]) => key.startsWith('shop_requests_total{'));
        expect(requests.reduce((sum, [, value]) => sum + Number(value), 0)).to.equal(20);
        await shop.end();
      });
    });
});
