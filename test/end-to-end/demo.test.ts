import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { freePort } from '../support/free-port.js';
import { eventually, theatre } from '../support/processes.js';
import { samplesOf, scrape } from './page.js';

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** Processes by pid whose command line or environment names a text. */
const processesWith = (text: string): string[] =>
  readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });

describe('npm run demo', function () {
  this.slow(8000);
  const stage = theatre();

  it('serves ads metrics, and Ctrl-C leaves no segment and no process', async () => {
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const demo = stage.start('demo', ['--port', String(port)]);
    const context = `demo${demo.pid}`;
    const page = await eventually(
      'a page of the demo',
      async () => {
        const key = await scrape(`${base}/metrics`).catch(() => undefined);
        if (key?.status === 200) return key.body;
        // With several targets a scrape has to be routed.
        const routed = await scrape(`${base}/metrics?server_key=82`).catch(() => undefined);
        return routed?.status === 200 ? routed.body : undefined;
      },
      15_000,
    );
    expect(samplesOf(page).filter(({ name }) => name.startsWith('ads_')).length).to.be.above(50);
    await eventually('it tells what to try', () => /curl http\S+/.exec(demo.stdout)?.[0]);
    expect(processesWith(context)).to.have.lengthOf.at.least(1);
    expect(await demo.stop('SIGINT')).to.deep.equal({ status: 0, signal: null });
    expect(readdirSync('/dev/shm').filter((name) => name.includes(context))).to.deep.equal([]);
    expect(processesWith(context)).to.deep.equal([]);
    expect(await isFree(port)).to.be.true;
  });
});
