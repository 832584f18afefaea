// Tests which system calls the exporter makes on the shared memory of Varnish.
import { expect } from 'chai';
import { testPrograms } from '../support/processes.js';
import { TracedExporter, expectToReadOnly } from '../support/traced-exporter.js';
import { varnishServer } from '../varnish/varnish-server.js';
import { pageWith } from './page.js';
import { needsPrograms } from '../support/needs.js';

describe('an exporter that reads the shared memory of Varnish', function () {
  this.timeout(180_000);
  this.slow(30_000);
  const programs = testPrograms();
  const server = varnishServer();
  before(async function () {
    needsPrograms(this, 'varnishd', 'varnishstat', 'strace');
    await server.start();
  });

  it('opens its files for reading, copies them, and neither writes nor locks them', async () => {
    const config = programs.config(
      {},
      `[[targets]]\napp = "varnish"\nserver_key = "shop"\nformat = "varnish"\nformat_settings = { directory = "${server.directory}" }\n`,
    );
    const exporter = new TracedExporter(programs, config);
    const url = await exporter.url();
    for (let scrapes = 0; scrapes < 3; scrapes++)
      await pageWith(url, (series) => series.get('varnish_up{}') === '1', 'it is there');
    const calls = await exporter.callsTo(server.path);
    expect(calls.length).to.be.greaterThan(100);
    expectToReadOnly(calls);
    for (const call of calls) expect(call).not.to.match(/_\.Log/);
    // The exporter finds the lock of `_.pid` in /proc/locks, by the inode. It does not open the file.
    for (const call of calls.filter((each) => each.includes('_.pid')))
      expect(call).to.match(/\b(statx|lstat|newfstatat)\(/);
  });
});
