// With a low limit of open files, targets get descriptors before connections.
import { connect } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import { connectionRoom, openFilesLimit } from '#app/exporter/listeners.js';
import { readyPage, scrape } from '../end-to-end/page.js';
import { needsPrograms } from '../support/needs.js';
import { theatre } from '../support/processes.js';

describe('the limit of open files', function () {
  this.slow(5000);
  const stage = theatre();

  it('is read from the limits of the process, and is infinite if they are unknown', () => {
    const limits =
      'Limit                     Soft Limit           Hard Limit           Units\n' +
      'Max open files            1024                 4096                 files\n';
    expect([limits, ''].map(openFilesLimit)).to.deep.equal([1024, Infinity]);
  });

  it('allows all connections if it is high, and some if it is low', () => {
    expect(connectionRoom(512, 1024, 5, 2)).to.deep.equal({ connections: 512, warning: '' });
    expect(connectionRoom(512, 256, 5, 2)).to.include({ connections: 190 });
    expect(connectionRoom(512, 64, 25, 2)).to.include({ connections: 8 });
    expect(connectionRoom(4, 64, 25, 2)).to.include({ connections: 4 });
  });

  it('is reported at the start, and idle connections do not keep probes out', async function () {
    needsPrograms(this, 'prlimit');
    stage.simulate('--app', 'ads', '--server-key', '82', '--objects', '3');
    const config = stage.config({ app: 'ads', server_keys: ['82'] });
    const exporter = stage.start('exporter', ['--config', config], {
      under: ['prlimit', '--nofile=64:64'],
    });
    await exporter.line(
      / warning the process may open 64 files .*: at most 30 connections are kept$/m,
    );
    const url = await exporter.url();
    await readyPage(url);
    const { hostname, port } = new URL(url);
    const silent = Array.from({ length: 80 }, () => connect(Number(port), hostname));
    for (const each of silent) each.on('error', () => undefined);
    await Promise.all(silent.map((each) => once(each, 'connect')));
    for (let probe = 0; probe < 6; probe++)
      expect((await scrape(new URL('/-/healthy', url).href)).status).to.equal(200);
    for (const each of silent) each.destroy();
    expect((await exporter.stop()).status).to.equal(0);
  });
});
