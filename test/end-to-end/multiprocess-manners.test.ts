// Tests which system calls the exporter makes on the metric files of Gunicorn's workers.
import { expect } from 'chai';
import { targetOf } from '../multiprocess/gunicorn-trial.js';
import { GunicornShop } from '../support/gunicorn-shop.js';
import { PYTHON_0_21, needsLibraries } from '../support/metric-libraries.js';
import { needsPrograms } from '../support/needs.js';
import { testPrograms } from '../support/processes.js';
import { TracedExporter, expectToReadOnly } from '../support/traced-exporter.js';
import { pageWith } from './page.js';

describe('an exporter that reads the metric files of Gunicorn', function () {
  this.timeout(180_000);
  this.slow(30_000);
  const programs = testPrograms();

  it('opens the files for reading, copies them, and neither writes nor locks them', async function () {
    needsLibraries(this, PYTHON_0_21);
    needsPrograms(this, 'strace');
    const shop = await GunicornShop.start(programs, PYTHON_0_21, { workers: 2 });
    const exporter = new TracedExporter(programs, programs.config({}, targetOf(shop.directory)));
    const url = await exporter.url();
    for (let requests = 1; requests <= 3; requests++) {
      // Each path gives the files new entries.
      await shop.request();
      const isThere = (series: ReadonlyMap<string, string>): boolean =>
        series.get('shop_request_duration_seconds_count{}') === String(requests);
      await pageWith(url, isThere, `${requests} requests are there`);
    }
    await shop.killWorker(0);
    await pageWith(url, (series) => series.size > 0, 'a worker has ended');
    shop.removeFiles(shop.deadFiles());
    await pageWith(url, (series) => series.size > 0, 'its files are gone');
    const calls = await exporter.callsTo(shop.directory);
    expect(calls.length).to.be.greaterThan(20);
    expectToReadOnly(calls);
  });
});
