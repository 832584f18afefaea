import { expect } from 'chai';
import { existsSync, rmSync } from 'node:fs';
import { Publisher } from '#app/native/publisher/publisher.js';
import { SPECIFIED_MODE as worker_execution_mode } from '../support/modes.js';
import { waitFor, testPrograms } from '../support/processes.js';
import { targets } from '../specification/shop.js';
import { pageWith, readyPage, samplesOf, scrape, seriesOf } from './page.js';

const SALES = 'shop_sales_total{"object":"@root"}';

const shop = (serverKey: string, sales: number, steps: readonly object[] = []) => ({
  server_key: serverKey,
  objects: [
    {
      id: 'h.1.shop',
      class: 'Shop',
      variables: { sales: { type: 'u64', kind: 'counter', value: sales } },
    },
  ],
  steps,
});

describe('a publisher that comes and goes', function () {
  this.slow(4000);
  const programs = testPrograms();
  const KEYS = [...Array.from({ length: 9 }, (_, index) => String(index + 1)), 'h', 's'];
  let exporterUrl = '';
  before(async () => {
    const tables = targets(...KEYS.map((server_key) => ({ app: 'shop', server_key })));
    const config = programs.config({ worker_execution_mode, stalled_after_seconds: 6 }, tables);
    exporterUrl = await programs.start('exporter', ['--config', config]).url();
  });
  /** Returns the URL of a server key's page. */
  const exporter = (key: string): string => `${exporterUrl}?server_key=${key}`;
  const unready = (url: string, reason: RegExp) =>
    waitFor(`503, waiting on ${reason.source}`, async () => {
      const { status, body } = await scrape(url);
      return status === 503 && reason.test(body) ? body : undefined;
    });
  const sales = async (url: string) => seriesOf(await readyPage(url)).get(SALES);

  it('may start after the exporter', async () => {
    const url = exporter('1');
    const { status, body } = await scrape(url);
    expect(status).to.equal(503);
    expect(body).to.match(
      /^scrape not ready: objects 0\/0 synced, variables 0\/0 synced, waiting on a root of application shop; server key 1: .+\n$/,
    );
    programs.publish(shop('1', 10));
    expect(await sales(url)).to.equal('10');
  });

  it("is shown up to the target's limits of objects, variables and series, and the log names the first omitted object, variable and series", async () => {
    const tills = ['a', 'b', 'c'].map((till) => ({
      ...{ id: `h.1.shop.${till}`, parent: 'h.1.shop', class: 'Till' },
      variables: { u: { type: 'u64', value: 1 }, v: { type: 'u64', value: 1 } },
    }));
    const { objects, ...rest } = shop('limits', 10);
    programs.publish({ ...rest, objects: [...objects, ...tills] });
    const exporter = programs.exporter({
      ...{ app: 'shop', server_keys: ['limits'], worker_execution_mode },
      ...{ target_max_objects: 3, target_max_variables: 4, target_max_series: 3 },
    });
    const url = await exporter.url();
    // When the target becomes ready, the publisher may still be adding objects.
    const text = await waitFor('all three are left out', async () => {
      const { body } = await scrape(url);
      const omitted = /^shm_exporter_target_(objects|variables|series)_omitted_total [1-9]/gm;
      return body.match(omitted)?.length === 3 ? body : undefined;
    });
    expect(text).to.match(/^shm_exporter_target_series 3$/m);
    await exporter.line(/left out object h\.1\.shop\.c: target_max_objects is 3/);
    await exporter.line(/left out variable v of h\.1\.shop\.b: target_max_variables is 4/);
    await exporter.line(/left out series shop_till_.+: target_max_series is 3/);
  });

  it('may have histograms and summaries without observations', async () => {
    const place = { contextId: programs.contextId, serverKey: 'h', heartbeatMs: 0 };
    const publisher = new Publisher(place);
    try {
      const root = publisher.addRoot('h.1.shop', 'Shop');
      publisher.addVariable(root, 'delay', 'histogram', { schema: [1] });
      publisher.addVariable(root, 'size', 'summary', { schema: [0.5] });
      publisher.place();
      const series = seriesOf(await readyPage(exporter('h')));
      const shown = [...series].filter(([key]) => key.startsWith('shop_'));
      expect(Object.fromEntries(shown)).to.deep.equal({
        'shop_delay_bucket{"le":"1","object":"@root"}': '0',
        'shop_delay_bucket{"le":"+Inf","object":"@root"}': '0',
        'shop_delay_sum{"object":"@root"}': '0',
        'shop_delay_count{"object":"@root"}': '0',
        'shop_size{"object":"@root","quantile":"0.5"}': 'NaN',
        'shop_size_sum{"object":"@root"}': '0',
        'shop_size_count{"object":"@root"}': '0',
      });
    } finally {
      publisher.close();
    }
  });

  it('may close and return: its target is first not ready, with the reason, and then ready again', async () => {
    const publisher = programs.publish(shop('2', 20));
    const url = exporter('2');
    expect(await sales(url)).to.equal('20');
    publisher.close();
    expect(programs.segments().filter((name) => name.endsWith('.2'))).to.deep.equal([]);
    await unready(
      url,
      /waiting on a root of application shop; server key 2: .*(closed|no segment)/,
    );
    programs.publish(shop('2', 21));
    expect(await sales(url)).to.equal('21');
  });

  it('may be killed: its target is first not ready, with the reason, and then ready again', async () => {
    const publisher = await programs.simulatorOf(shop('3', 30));
    const url = exporter('3');
    expect(await sales(url)).to.equal('30');
    expect(await publisher.stop('SIGKILL')).to.deep.equal({ status: null, signal: 'SIGKILL' });
    await unready(
      url,
      /waiting on a root of application shop; server key 3: publisher died without closing/,
    );
    programs.publish(shop('3', 31));
    expect(await sales(url)).to.equal('31');
  });

  it('may be stopped and continued: its target is served for a while, then is not ready, with the reason, and then is ready again', async () => {
    const publisher = await programs.simulatorOf(shop('s', 35));
    const url = exporter('s');
    expect(await sales(url)).to.equal('35');
    publisher.signal('SIGSTOP');
    try {
      const stalled = (page: ReadonlyMap<string, string>) =>
        Number(page.get('shm_exporter_target_heartbeat_age_seconds{}')) > 5;
      expect(
        (await pageWith(url, stalled, 'it is served while it is stalled')).get(SALES),
      ).to.equal('35');
      await unready(
        url,
        /waiting on a root of application shop; server key s: no heartbeat from the publisher for more than 11 s\n$/,
      );
    } finally {
      publisher.signal('SIGCONT');
    }
    expect(await sales(url)).to.equal('35');
  });

  it('may be killed and replaced between two scrapes, and no old value appears under a new name', async () => {
    const publisher = await programs.simulatorOf(shop('4', 40));
    const url = exporter('4');
    expect(await sales(url)).to.equal('40');
    await publisher.stop('SIGKILL');
    programs.publish(shop('4', 41));
    expect(await sales(url)).to.equal('41');
  });

  it('may be killed while it adds and removes objects, and no value appears under the name of another object', async () => {
    const till = (number: number) => ({
      id: `h.1.shop.${number}`,
      parent: 'h.1.shop',
      class: 'Till',
      variables: { number: { type: 'u64', value: number } },
    });
    // Three tills exist at a time. Each new till gets the slots of the till that was removed just before.
    const churning = (first: number) => {
      const tills = Array.from({ length: 9 }, (_, index) => first + index);
      const gone = (index: number) => `h.1.shop.${tills.at(index - 3) ?? 0}`;
      const steps = tills.flatMap((number, index) => [
        { after_ms: 4, remove: [gone(index)] },
        { after_ms: 4, add: [till(number)] },
      ]);
      const { objects, ...scenario } = shop('churn', first, steps);
      return { ...scenario, objects: [...objects, ...tills.slice(-3).map(till)], repeat: true };
    };
    const settings = { app: 'shop', server_keys: ['churn'], render_min_interval_ms: 0 };
    const url = await programs.exporter({ ...settings, worker_execution_mode }).url();
    const showsAll = async (first: number) => {
      const seen = new Set<number>();
      await waitFor(`all tills from ${first} on`, async () => {
        const { status, body } = await scrape(url);
        if (status !== 200) return undefined;
        for (const { name, labels, value } of samplesOf(body)) {
          if (name !== 'shop_till_number') continue;
          expect(labels['object']).to.equal(value);
          seen.add(Number(value));
        }
        return seen.size === 9 ? true : undefined;
      });
      for (const number of seen) expect(number).to.be.within(first, first + 8);
    };
    const killed = await programs.simulatorOf(churning(100));
    await showsAll(100);
    await killed.stop('SIGKILL');
    await unready(url, /publisher died without closing/);
    const next = programs.publish(churning(200));
    await showsAll(200);
    next.close();
  });

  it('keeps its server key: a second publisher ends with status 4', async () => {
    programs.publish(shop('5', 50));
    const second = programs.start('simulator', [
      '--context-id',
      programs.contextId,
      '--server-key',
      '5',
      '--app',
      'shop',
    ]);
    expect(await second.ended).to.deep.equal({ status: 4, signal: null });
    const path = `/dev/shm/${programs.contextId}.pool.5`;
    expect(second.stderr).to.match(/^warning: there is no built-in tree of shop; .*\n/);
    const holder = `shm_simulator: another publisher holds ${path} (process ${process.pid})\n`;
    expect(second.stderr).to.contain(holder);
    expect(programs.segments().filter((name) => name.includes('.pool.5'))).to.deep.equal([
      `${programs.contextId}.pool.5`,
    ]);
    expect(await sales(exporter('5'))).to.equal('50');
  });

  it('is served again after the file of its segment was removed', async () => {
    programs.publish(shop('9', 90));
    expect(await sales(exporter('9'))).to.equal('90');
    const path = `/dev/shm/${programs.contextId}.pool.9`;
    rmSync(path);
    await waitFor('the name is back', () => existsSync(path) || undefined);
    expect(await sales(exporter('9'))).to.equal('90');
  });

  it('ends cleanly at a scenario step with exit = clean, and leaves no segment', async () => {
    const steps = [{ after_ms: 50, exit: 'clean' }];
    const publisher = await programs.simulatorOf(shop('6', 60, steps));
    expect(await publisher.ended).to.deep.equal({ status: 0, signal: null });
    expect(programs.segments().filter((name) => name.includes('.pool.6'))).to.deep.equal([]);
  });

  it('is killed at a scenario step with exit = kill, and leaves its segment', async () => {
    const steps = [{ after_ms: 50, exit: 'kill' }];
    const publisher = await programs.simulatorOf(shop('7', 70, steps));
    expect(await publisher.ended).to.deep.equal({ status: null, signal: 'SIGKILL' });
    const left = programs.segments().filter((name) => name.includes('.pool.7'));
    expect(left).to.deep.equal([`${programs.contextId}.pool.7`]);
    await unready(exporter('7'), /waiting on a root of application shop; server key 7: /);
  });

  it('repeats the steps of a scenario if repeat is true', async () => {
    const set = (value: number) => ({ after_ms: 100, set: { 'h.1.shop': { sales: value } } });
    programs.publish({ ...shop('8', 0, [set(81), set(82)]), repeat: true });
    const url = exporter('8');
    const seen: string[] = [];
    await waitFor('81, 82 and 81 again', async () => {
      const value = await sales(url);
      if (value !== undefined && value !== seen.at(-1)) seen.push(value);
      return seen.join().includes('81,82,81') ? true : undefined;
    });
  });
});
