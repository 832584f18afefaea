// Three exporters with twenty targets each. A real Prometheus 3, its agent and two members of a cluster of vmagent scrape
// the host pages with the files of deploy/fleet, and send everything to VictoriaMetrics.
import { expect } from 'chai';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UNOBSERVED, expectedSeries } from '../end-to-end/oracle.js';
import type { ScenarioFile } from '../end-to-end/oracle.js';
import { samplesOf, scrape, seriesKey } from '../end-to-end/page.js';
import type { Labels } from '../end-to-end/page.js';
import { recordedJvm, recordedVarnish } from '../end-to-end/recorded-inputs.js';
import { freePort } from '../support/free-port.js';
import { needsNewer, newer } from '../support/newer-programs.js';
import { plannedScenario } from '../support/planned-scenario.js';
import { PROJECT, delay, testPrograms, waitFor } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import type { Published } from '../support/published.js';
import { DASHBOARDS, expressionsOf } from './dashboard-panels.js';
import { metricsOf, withoutVariables } from './expressions.js';
import { ALERTS, PROMETHEUS } from './rule-files.js';

const FLEET = 'deploy/fleet';
const HOSTS = ['a', 'b', 'c'] as const;
type Host = (typeof HOSTS)[number];
/** The scrape interval. It is also the timeout, so it must suffice on a busy machine. */
const INTERVAL = '5s';
const JDK = 'openjdk-17.0.15';
const COLLECTOR = 'G1';
/** The agents, as the label `agent` names them. */
const AGENTS = ['prometheus', 'agent', 'vmagent'] as const;
/**
 * Matches expressions without data here: of other formats, of workers, of the bridge, of a web configuration, of
 * scopes, and of garbage collections, which a recorded JVM does not make.
 */
const LACKING =
  /node_textfile|multiprocess_|shm_workers|target_file_faulty|web_config_|certificate_|tls_handshake|as_of_age|highlighted|scope_cache_hits|shm_bridge_|\bats_|varnish_(?:mgt|main)_|\(rate\(jvm_gc_collection_seconds_count/;
/** Labels that the agents add. */
const ADDED = ['__name__', 'job', 'instance', 'agent', 'region', 'site'];

interface Series {
  readonly metric: Labels;
  readonly value: readonly [time: number, value: string];
}

/** A published tree, and the server key of its target. */
interface Tree {
  readonly app: string;
  readonly key: string;
  readonly root: string;
  readonly scenario: ScenarioFile;
}

/** Twelve of the targets of a host, with different values on each. */
function cataloguedTrees(host: Host): readonly Tree[] {
  const base = 100_000 * (1 + HOSTS.indexOf(host));
  return ['ads', 'adh'].flatMap((app, at) =>
    Array.from({ length: 6 }, (_, index) => {
      const root = `host-${host}.${index + 1}.${app}`;
      const scenario = plannedScenario(app, root, 40, base + 10_000 * (6 * at + index));
      return { app, key: `${app}-${index + 1}`, root, scenario };
    }),
  );
}

/** A shop with tills, whose sales are `first`, `first` + 1 and so on. */
function shopTree(host: Host, number: number, first: number): Tree {
  const root = `host-${host}.${number}.shop`;
  const tills = Array.from({ length: 10 }, (_, at) => ({
    ...{ id: `${root}.till${at}`, parent: root, class: 'Till' },
    variables: { sales: { type: 'u64', kind: 'counter', value: first + at } },
  }));
  const objects = [{ id: root, class: 'Shop', variables: {} }, ...tills];
  return { app: 'shop', key: `shop-${number}`, root, scenario: { objects } };
}

const shopTrees = (host: Host): readonly Tree[] =>
  [1, 2, 3, 4].map((number) =>
    shopTree(host, number, 1_000_000 * (1 + HOSTS.indexOf(host)) + 1000 * number),
  );

/** A series of the store or of a publisher, without the labels that agents add, and its value. */
type Values = ReadonlyMap<string, number>;

/** Prometheus 3 writes bounds and quantiles as floats: `le="1.0"`. */
const normalized = (labels: Labels): Labels =>
  Object.fromEntries(
    Object.entries(labels).map(([label, value]) =>
      label === 'le' || label === 'quantile'
        ? [label, String(Number(value.replace('Inf', 'Infinity')))]
        : [label, value],
    ),
  );

const numberOf = (value: string): number => Number(value.replace('Inf', 'Infinity'));

/** The values of a tree, which its scenario states. */
function valuesOf({ app, key, root, scenario }: Tree): Values {
  const values = new Map<string, number>();
  const add = (name: string, labels: Labels, value: string) => {
    const all = { app, server_key: key, root, ...labels };
    values.set(seriesKey(name, normalized(all)), numberOf(value));
  };
  if (app === 'shop')
    for (const { id, variables } of scenario.objects.slice(1)) {
      const object = id.slice(root.length + 1);
      add('shop_till_sales_total', { object }, String(variables['sales']?.value));
    }
  else
    for (const [series, value] of expectedSeries(app, scenario, root)) {
      const brace = series.indexOf('{');
      const labels = JSON.parse(series.slice(brace)) as Labels;
      if (value !== UNOBSERVED) add(series.slice(0, brace), labels, value);
    }
  return values;
}

/** The values on a recorded page of `test/golden`, by series. `relabel` returns undefined for series to leave out. */
function recordedValues(file: string, relabel: (labels: Labels) => Labels | undefined): Values {
  const page = readFileSync(join(PROJECT, 'test/golden', file), 'utf8');
  const values = new Map<string, number>();
  for (const { name, labels, value } of samplesOf(page.replaceAll(' SECONDS\n', ' 0\n'))) {
    const own = relabel(labels);
    // The start times depend on the test run.
    if (own !== undefined && !name.endsWith('_start_time_seconds'))
      values.set(seriesKey(name, normalized(own)), numberOf(value));
  }
  return values;
}

const sorted = (values: Values): readonly string[] =>
  [...values].map(([key, value]) => `${key} ${value}`).sort();

describe('a fleet of three hosts', function () {
  this.timeout(240_000).slow(60_000);
  const programs = testPrograms();
  const instances = new Map<Host, string>();
  const expected = new Map<Host, Map<string, number>>();
  const published = new Map<string, Published>();
  const logs = new Map<string, Running>();
  let store = '';
  let prometheus = '';
  let agent = '';

  const publish = (host: Host, { key, scenario }: Tree): void => {
    const words = ['--server-key', key, '--pool-name', host];
    published.set(`${host} ${key}`, programs.publish(scenario, ...words));
  };
  const close = (host: Host, { key }: Tree): void => published.get(`${host} ${key}`)?.close();
  const expectAll = (host: Host, values: Values): void => {
    const all = expected.get(host) ?? new Map<string, number>();
    for (const [key, value] of values) all.set(key, value);
    expected.set(host, all);
  };
  /** Overwrites the header of a segment. The file keeps its size, since a publisher may have it mapped. */
  function corrupt(host: Host, key: string): void {
    const path = `/dev/shm/${programs.contextId}.${host}.${key}`;
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o644);
    writeSync(file, Buffer.alloc(8192, 0xee), 0, 8192, 0);
    closeSync(file);
  }

  /** Starts the publishers and the exporter of a host. */
  async function startHost(host: Host): Promise<void> {
    for (const tree of [...cataloguedTrees(host), ...shopTrees(host)]) {
      publish(host, tree);
      expectAll(host, valuesOf(tree));
    }
    const root = `host-${host}.1.slow`;
    const slow = { id: root, class: 'Slow', variables: { value: { type: 'u64' } } };
    publish(host, { app: 'slow', key: 'slow', root, scenario: { objects: [slow] } });
    corrupt(host, 'corrupt');
    const jvm = await recordedJvm(programs, JDK, COLLECTOR, `hsperfdata_${host}`);
    expectAll(
      host,
      recordedValues(`jvm-${JDK}.prom`, (labels) =>
        labels['pid'] === COLLECTOR
          ? { ...labels, pid: String(jvm.pid), app: 'jvm', server_key: 'jvm' }
          : undefined,
      ),
    );
    const varnish = recordedVarnish(programs, '7.1.1', `varnish-${host}`);
    expectAll(
      host,
      recordedValues('varnish-7.1.1-clean.prom', (labels) => {
        return { ...labels, app: 'varnish', server_key: 'shop' };
      }),
    );
    const targets = `
[discover]
native = ["ads-*", "adh-*", "shop-*", "slow"]
forget_after_seconds = 5
[[targets]]
app = "shop"
server_key = "corrupt"
[[targets]]
app = "jvm"
server_key = "jvm"
format = "hsperfdata"
format_settings = { directories = ["${jvm.directory}"] }
[[targets]]
app = "varnish"
server_key = "shop"
format = "varnish"
format_settings = { directory = "${varnish.directory}", names = "clean" }
`;
    const exporter = programs.start('exporter', [
      ...['--config', programs.config({ pool_name: host, render_min_interval_ms: 1 }, targets)],
    ]);
    const { origin, host: instance } = new URL(await exporter.url());
    instances.set(host, instance);
    await waitFor(`eighteen targets of host ${host} are ready`, async () => {
      const { body } = await scrape(`${origin}/-/all`);
      const ready = samplesOf(body).filter((each) => each.name === 'shm_target_up');
      const up = ready.filter(({ value }) => value === '1');
      return ready.length === 20 && up.length === 18 ? true : undefined;
    });
  }

  /** A file of deploy/fleet with the addresses and intervals of this test. */
  function configured(
    file: string,
    name: string,
    original = readFileSync(join(FLEET, file), 'utf8'),
  ): string {
    const text = original
      .replaceAll('15s', INTERVAL)
      .replace('region: eu', `region: eu\n    agent: ${name}`)
      .replaceAll('../prometheus', resolve(PROMETHEUS))
      .replaceAll('http://victoria-metrics.example.net:8428', store);
    return programs.write(`${name}.yml`, text);
  }

  /** Starts a program that answers HTTP. Returns its address. */
  async function startServer(name: string, words: (address: string) => readonly string[]) {
    const address = `127.0.0.1:${await freePort()}`;
    const [program = '', ...args] = words(address);
    const running = programs.command([newer(program), ...args]);
    logs.set(name, running);
    await waitFor(`${name} answers`, async () => {
      if (running.isOver) throw new Error(`${name} ended: ${running.stdout}${running.stderr}`);
      const answer = await fetch(`http://${address}/metrics`).catch(() => undefined);
      return answer?.ok === true ? true : undefined;
    });
    return `http://${address}`;
  }

  before(async function () {
    needsNewer(this, 'prometheus', 'vmagent', 'victoria-metrics');
    for (const host of HOSTS) await startHost(host);
    let inventory = readFileSync(join(FLEET, 'hosts.yml'), 'utf8');
    for (const [at, host] of HOSTS.entries())
      inventory = inventory.replace(`host-${at + 1}.example.net:9464`, instances.get(host) ?? '');
    programs.write('hosts.yml', inventory);
    store = await startServer('store', (address) => [
      'victoria-metrics',
      ...[`-storageDataPath=${programs.path('store')}`, `-httpListenAddr=${address}`],
      // Queries also return the samples of the last seconds.
      ...['-search.latencyOffset=0s', '-search.disableCache'],
    ]);
    prometheus = await startServer('prometheus', (address) => [
      ...['prometheus', `--config.file=${configured('prometheus.yml', 'prometheus')}`],
      ...[`--storage.tsdb.path=${programs.path('tsdb')}`, `--web.listen-address=${address}`],
    ]);
    agent = await startServer('agent', (address) => [
      ...['prometheus', '--agent', `--config.file=${configured('agent.yml', 'agent')}`],
      ...[`--storage.agent.path=${programs.path('wal')}`, `--web.listen-address=${address}`],
    ]);
    const members = configured('vmagent.yml', 'vmagent');
    for (const member of [0, 1])
      await startServer(`vmagent ${member}`, (address) => [
        ...['vmagent', `-promscrape.config=${members}`, `-httpListenAddr=${address}`],
        ...['-promscrape.cluster.membersCount=2', `-promscrape.cluster.memberNum=${member}`],
        ...[`-remoteWrite.url=${store}/api/v1/write`],
        `-remoteWrite.tmpDataPath=${programs.path(`queue-${member}`)}`,
      ]);
  });

  async function found(query: string, address = store, more = ''): Promise<readonly Series[]> {
    const url = `${address}/api/v1/query?${new URLSearchParams({ query }).toString()}${more}`;
    const answer = await fetch(url);
    const { status, data } = (await answer.json()) as {
      readonly status: string;
      readonly data?: { readonly result: readonly Series[] };
    };
    if (status !== 'success' || data === undefined) throw new Error(`${query}: ${status}`);
    return data.result;
  }

  /** The application metrics of a host that an agent sent, without the roots of JVMs and Varnish. */
  async function stored(by: string, host: Host): Promise<Values> {
    const instance = instances.get(host) ?? '';
    const series = await found(
      `{job="shm",agent="${by}",instance="${instance}",app!="",__name__!~"shm_target_.*|ALERTS.*|target.*:.*"}`,
    );
    const isRecorded = (app = '') => app === 'jvm' || app === 'varnish';
    return new Map(
      series
        .filter(({ metric }) => !(metric['app'] === 'jvm' && !('pid' in metric)))
        .filter(
          ({ metric }) => !/^(?:jvm|varnish)_.*start_time_seconds$/.test(metric['__name__'] ?? ''),
        )
        .map(({ metric, value }) => {
          const hidden = isRecorded(metric['app']) ? [...ADDED, 'root'] : ADDED;
          const labels = Object.entries(metric).filter(([label]) => !hidden.includes(label));
          const own = normalized(Object.fromEntries(labels));
          return [seriesKey(metric['__name__'] ?? '', own), numberOf(value[1])];
        }),
    );
  }

  /** Waits until the store has exactly the expected values of a host; fails with the differences. */
  async function hasAll(by: string, host: Host, without: readonly Tree[] = []): Promise<void> {
    const gone = new Set(without.flatMap((tree) => [...valuesOf(tree).keys()]));
    const wanted = sorted(
      new Map([...(expected.get(host) ?? [])].filter(([key]) => !gone.has(key))),
    );
    let last: readonly string[] = [];
    await waitFor(
      'the values are equal',
      async () => {
        last = sorted(await stored(by, host));
        return last.join('\n') === wanted.join('\n') ? true : undefined;
      },
      60_000,
    ).catch(() => undefined);
    const [has, wants] = [new Set(last), new Set(wanted)];
    const differences = [
      ...wanted.filter((each) => !has.has(each)).map((each) => `missing: ${each}`),
      ...last.filter((each) => !wants.has(each)).map((each) => `found: ${each}`),
    ];
    // Few of them, so that a failure can be read.
    expect(differences.slice(0, 20), `host ${host} by ${by}`).to.deep.equal([]);
  }

  for (const by of AGENTS)
    it(`has the values of all publishers in the store, scraped by ${by}`, async () => {
      for (const host of HOSTS) {
        expect(expected.get(host)?.size).to.be.greaterThan(1000);
        await hasAll(by, host);
      }
    });

  it('shows 1 for each ready target, and 0 for the one that is never ready and the corrupt one', async () => {
    for (const by of AGENTS)
      for (const host of HOSTS) {
        const series = await found(
          `shm_target_up{job="shm",agent="${by}",instance="${instances.get(host) ?? ''}"}`,
        );
        expect(series).to.have.length(20);
        const down = series.filter(({ value }) => value[1] !== '1');
        expect(down.map(({ metric }) => metric['server_key']).sort()).to.deep.equal([
          'corrupt',
          'slow',
        ]);
      }
  });

  it('ends the samples of targets that break, shows them again, and changes no other target', async () => {
    const [closed, killed, broken, stays] = shopTrees('a');
    if (closed === undefined || killed === undefined || broken === undefined) throw new Error();
    const gone = [closed, killed, broken];
    // A process of its own publishes the second tree, so that it can be killed.
    const publisher = async ({ key, scenario }: Tree) => {
      const words = ['--server-key', key, '--pool-name', 'a'];
      return programs.simulatorOf(scenario, ...words);
    };
    close('a', killed);
    const process = await publisher(killed);
    for (const by of AGENTS) await hasAll(by, 'a');

    close('a', closed);
    await process.stop('SIGKILL');
    corrupt('a', broken.key);
    for (const by of AGENTS) {
      await hasAll(by, 'a', gone);
      for (const host of ['b', 'c'] as const) await hasAll(by, host);
    }
    expect(stays).not.to.equal(undefined);

    publish('a', closed);
    await publisher(killed);
    close('a', broken);
    publish('a', broken);
    for (const by of AGENTS) await hasAll(by, 'a');
  });

  it('was up in each scrape', async () => {
    for (const by of AGENTS) {
      const lowest = await found(`min_over_time(up{agent="${by}",job=~"shm.*"}[10m])`);
      const shown = lowest.map(
        ({ metric, value }) => `${metric['job']} ${metric['instance']} ${value[1]}`,
      );
      const wanted = [...instances.values()].flatMap((instance) =>
        ['shm', 'shm_exporter'].map((job) => `${job} ${instance} 1`),
      );
      expect(shown.sort(), by).to.deep.equal(wanted.sort());
    }
  });

  describe('with an ADS and an ADH whose values change', () => {
    before(() => {
      for (const app of ['ads', 'adh']) {
        const words = ['--app', app, '--server-key', `${app}-7`, '--pool-name', 'b'];
        programs.simulate(...words, '--rate', '5');
      }
    });

    /** A parameter that makes a query select the samples of one agent. */
    const only = (by: string): string =>
      `&${new URLSearchParams({ 'extra_filters[]': `{agent="${by}"}` }).toString()}`;

    /** Queries until every expression has a result for each agent. Returns those without one. */
    async function emptyOnes(expressions: readonly string[]): Promise<readonly string[]> {
      let left = AGENTS.flatMap((by) =>
        [...new Set(expressions)]
          .filter(
            (query) => !LACKING.test(query) && (by === 'prometheus' || !query.includes('ALERTS')),
          )
          .map((query) => ({ by, query })),
      );
      const end = performance.now() + 90_000;
      while (left.length > 0 && performance.now() < end) {
        const still: typeof left = [];
        for (const each of left)
          if ((await found(each.query, store, only(each.by))).length === 0) still.push(each);
        left = still;
        // A scrape brings new samples every five seconds.
        if (left.length > 0) await delay(2500);
      }
      return left.map(({ by, query }) => `${by}: ${query}`);
    }

    for (const file of ['ads.json', 'adh.json', 'jvm.json', 'shm_exporter.json'])
      it(`has data for every panel and variable of ${file}`, async () => {
        const board = DASHBOARDS.get(file);
        if (board === undefined) throw new Error(file);
        const expressions = expressionsOf(board).map(([, expr]) => withoutVariables(expr));
        const variables = board.templating.list.flatMap(({ query }) => {
          if (typeof query === 'string') return [];
          const [, selector = '', label = ''] =
            /^label_values\((.+), (\w+)\)$/.exec(query.query) ?? [];
          return [`count by (${label}) (${withoutVariables(selector)}) > 0`];
        });
        expect(await emptyOnes([...expressions, ...variables])).to.deep.equal([]);
      });

    it('has the metrics that the alerts select', async () => {
      const names = ALERTS.flatMap(({ expr }) => metricsOf(expr)).filter(
        // The hosts have no target of the format "workers".
        (name) => name !== 'ALERTS' && !name.startsWith('shm_workers'),
      );
      expect(names).to.include('shm_exporter_publisher_state');
      expect(await emptyOnes(names)).to.deep.equal([]);
    });
  });

  it('has native histograms, types and units with the settings that prometheus.yml has in comments', async () => {
    const text = readFileSync(join(FLEET, 'prometheus.yml'), 'utf8');
    const all = text.replaceAll(/^( *)#(?=[a-z_]+: )/gm, '$1');
    expect(all).not.to.equal(text);
    const address = await startServer('native', (own) => [
      ...['prometheus', `--config.file=${configured('prometheus.yml', 'native', all)}`],
      ...[`--storage.tsdb.path=${programs.path('native')}`, `--web.listen-address=${own}`],
      '--enable-feature=native-histograms,type-and-unit-labels',
    ]);
    const latency = 'ads_fanout_update_latency_seconds';
    for (const query of [
      `histogram_count(${latency}{__type__="histogram",__unit__="seconds"})`,
      `${latency}_bucket{le="+Inf"}`,
      'shop_till_sales_total{__type__="counter"}',
    ])
      await waitFor(query, async () =>
        (await found(query, address).catch(() => [])).length > 0 ? true : undefined,
      );
  });

  it('has alerts about the broken targets, and none about the scrapes', async () => {
    const broken = ['ShmLicenseExpiring', 'ShmPublisherUnreadable', 'ShmTargetNotReady'];
    // An alert about a target that was down a moment ago ends with the next evaluation.
    await waitFor('alerts about the broken targets only', async () => {
      const alerts = await found('count by (alertname) (ALERTS)', prometheus);
      const names = alerts.map(({ metric }) => metric['alertname'] ?? '');
      const areThere = broken.every((name) => names.includes(name));
      const others = names.filter((name) => /^Shm.*(?:Scraped|Discovered|Down)$/.test(name));
      return areThere && others.length === 0 ? true : undefined;
    });
  });

  it('has no duplicate and no late sample, by the logs and counters of Prometheus', async () => {
    for (const [name, { stdout, stderr }] of logs)
      expect(`${stdout}${stderr}`, name).not.to.match(
        /duplicate|out.of.order|different value|too old/i,
      );
    for (const address of [prometheus, agent]) {
      const { body } = await scrape(`${address}/metrics`);
      const counters = samplesOf(body).filter(({ name }) =>
        /_(duplicate_timestamp|out_of_order)_total$/.test(name),
      );
      expect(counters).not.to.be.empty;
      for (const { name, value } of counters) expect(value, name).to.equal('0');
    }
  });
});
