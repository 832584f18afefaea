// Tests a real Varnish: the metric names of prometheus_varnish_exporter, and the page after Varnish ends.
import { expect } from 'chai';
import { freePort } from '../support/free-port.js';
import { SPECIFIED_MODE as mode } from '../support/modes.js';
import { waitFor, testPrograms } from '../support/processes.js';
import { varnishServer } from '../varnish/varnish-server.js';
import {
  applicationPart,
  pageWith,
  promtoolLines,
  readyPage,
  samplesOf,
  scrape,
  seriesKey,
} from './page.js';
import type { Reply } from './page.js';
import { needsPrograms } from '../support/needs.js';

const KNOWN = 'prometheus-varnish-exporter';
const START_MS = 120_000;

describe('an exporter of Varnish', function () {
  this.timeout(240_000);
  this.slow(30_000);
  const programs = testPrograms();
  const server = varnishServer();
  before(async function () {
    needsPrograms(this, 'varnishd', 'varnishstat', KNOWN);
    await server.start();
  });

  async function exporterOf(names: string): Promise<string> {
    const settings = `{ directory = ${JSON.stringify(server.directory)}, names = "${names}" }`;
    const config = programs.config(
      // A short interval, so that each scrape shows the present values.
      { worker_execution_mode: mode, render_min_interval_ms: 1 },
      `[[targets]]\napp = "varnish"\nserver_key = "shop"\nformat = "varnish"\nformat_settings = ${settings}\n`,
    );
    return programs.start('exporter', ['--config', config]).url();
  }

  async function deadReply(url: string): Promise<Reply | undefined> {
    const reply = await scrape(url);
    const isDead =
      reply.status === 503 && reply.body.includes('varnishd ended without cleaning up');
    return isDead ? reply : undefined;
  }

  /** The values on a page by their series, as numbers. */
  const valuesOn = (page: string): Map<string, number> =>
    new Map(
      samplesOf(page)
        .filter(({ name }) => name.startsWith('varnish_'))
        .map(({ name, labels, value }) => [seriesKey(name, labels), Number(value)]),
    );

  /** Returns the keys with different values, or with a value on one side only. */
  function differences<T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>): string[] {
    const keys = new Set([...a.keys(), ...b.keys()]);
    const differing = [...keys].filter((key) => a.get(key) !== b.get(key));
    return differing.map((key) => `${key}: ${String(a.get(key))}, ${String(b.get(key))}`);
  }

  /** Returns the names of metrics and their types. */
  const typesOn = (page: string): Map<string, string> =>
    new Map(
      [...page.matchAll(/^# TYPE (varnish_\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [
        name,
        type,
      ]),
    );

  it("has the series, types and values of prometheus_varnish_exporter, except for that exporter's errors", async () => {
    server.reload();
    await server.request('/good');
    const url = await exporterOf('compat');
    await readyPage(url);
    const port = await freePort();
    programs.command([KNOWN, '-n', server.path, '-web.listen-address', `127.0.0.1:${port}`]);
    const known = `http://127.0.0.1:${port}/metrics`;
    await waitFor('it answers', () => scrape(known).catch(() => undefined), START_MS);
    const [theirs, ours] = await server.still(async () => {
      const page = (await scrape(known)).body;
      // During the first scrape a new segment may appear. The second scrape shows it.
      await scrape(url);
      return [page, (await scrape(url)).body];
    });
    const expected = valuesOn(theirs);
    expect(expected.size).to.be.greaterThan(300);
    for (const key of [...expected.keys()]) {
      // The version is not in shared memory; prometheus_varnish_exporter asks another program for it.
      if (key.startsWith('varnish_version')) expected.delete(key);
      // prometheus_varnish_exporter reports a backend as down if it has no probe or if all its probes failed.
      if (/^varnish_backend_up.*"backend":"(plain|bad)"/.test(key)) {
        expect(expected.get(key), key).to.equal(0);
        if (!valuesOn(ours).has(key)) expected.delete(key);
      }
    }
    expect(differences(valuesOn(ours), expected)).to.deep.equal([]);
    expect(
      [...valuesOn(ours).keys()].some(
        (key) => key.includes('"backend":"plain"') && key.startsWith('varnish_backend_up'),
      ),
    ).to.equal(false);
    const types = typesOn(theirs);
    types.delete('varnish_version');
    expect(differences(typesOn(ours), types)).to.deep.equal([]);
  });

  it('passes the linter of Prometheus with clean metric names', async function () {
    needsPrograms(this, 'promtool');
    const page = applicationPart(await readyPage(await exporterOf('clean')));
    expect(page).to.match(/^varnish_backend_up\{vcl="\w+",backend="good"\} 1$/m);
    expect(promtoolLines(page)).to.deep.equal([]);
  });

  it('passes promtool with the names of prometheus_varnish_exporter, except for suffixes and abbreviated units', async function () {
    needsPrograms(this, 'promtool');
    const page = applicationPart(await readyPage(await exporterOf('compat')));
    const others = promtoolLines(page).filter(
      (line) => !/counter metrics should have "_total" suffix$|abbreviated units$/.test(line),
    );
    expect(others).to.deep.equal([]);
  });

  it('names the metrics of its scrape page on its tree page', async () => {
    const url = await exporterOf('compat');
    await readyPage(url);
    const tree = await scrape(url.replace(/\/metrics.*$/, '/tree?q=client_req'));
    expect(tree.body).to.contain('varnish_main_client_req');
  });

  it('answers 503 with the reason after Varnish was killed, and 200 after it restarted', async () => {
    // After a failed attempt of this test, the server may not be running.
    if (!server.runs) await server.start();
    const url = await exporterOf('compat');
    await readyPage(url);
    await server.kill();
    const reply = await waitFor('503 with the reason', () => deadReply(url));
    expect(reply.body).not.to.contain('varnish_main');
    const tree = await scrape(url.replace(/\/metrics.*$/, '/tree?q=client_req'));
    expect(tree.status).to.equal(200);
    expect(tree.body).to.contain('id="last"').and.to.contain('varnish_main_client_req');
    await server.start();
    await pageWith(url, (series) => series.get('varnish_up{}') === '1', 'it is back');
  });
});
