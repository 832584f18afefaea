// Tests that the dashboards and rules return data from a real Prometheus that scrapes a running exporter.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { freePort } from '../support/free-port.js';
import { waitFor, delay, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { DASHBOARDS, expressionsOf } from './dashboard-panels.js';
import { metricsOf, withoutVariables } from './expressions.js';
import { PROMETHEUS, RULES } from './rule-files.js';
import { needsPrograms } from '../support/needs.js';

/** Metrics with one series per state, and the label with the name of the state. */
const STATES = [
  ['shm_exporter_publisher_state', 'state'],
  ['shm_exporter_license_state', 'state'],
] as const;

/** Metrics of the host page, which the demo has not. test/deploy/both-ways.test.ts shows that the dashboards work with it. */
const OF_HOST_PAGE = ['shm_target_up', 'shm_target_info'];
/** The metrics of Varnish, which the demo has not. */
const OF_VARNISH = ['clean', 'compat'].flatMap((names) =>
  [
    ...readFileSync(`test/golden/varnish-7.1.1-${names}.prom`, 'utf8').matchAll(/^# TYPE (\S+)/gm),
  ].map(([, name = '']) => name),
);
const isOfVarnish = (name: string): boolean => name.includes('varnish');

/** Metrics that come from Prometheus itself and from node_exporter. */
const FROM_OTHERS = ['up', 'scrape_duration_seconds', 'ALERTS', 'node_textfile_mtime_seconds'];
/**
 * The demo has no web configuration, so it lacks these metrics. test/end-to-end/web-config.test.ts and
 * test/exporter/web-guard.test.ts test them.
 */
const OF_WEB_CONFIG = [
  'shm_exporter_web_config_last_reload_successful',
  'shm_exporter_certificate_expiry_timestamp_seconds',
  'shm_exporter_tls_handshake_errors_total',
];
/** The demo has no folder targets.d. test/end-to-end/targets-folder.test.ts tests this metric. */
const OF_TARGETS_FOLDER = ['shm_exporter_target_file_faulty'];
/**
 * The demo writes no merged document and has no host page, so it lacks these metrics. test/exporter/sinks.test.ts and
 * test/exposition/rows/target-labels.test.ts test them.
 */
const OF_JOINED_TARGETS = [
  'shm_exporter_merged_clashing_metrics',
  'shm_exporter_target_renamed_labels',
];

/**
 * Metrics of worker processes. The demo has the first one only with Gunicorn, and no target of the format `workers`.
 * test/workers and test/end-to-end/stalled-workers.test.ts test the others.
 */
const OF_WORKERS = [
  'process_threads',
  'shm_workers',
  'shm_workers_ended_total',
  'shm_workers_left_out',
  'shm_workers_left_out_variables',
  'shm_workers_stalled',
];

/** The demo discovers no targets. test/exporter/discovery.test.ts tests this metric. */
const OF_DISCOVERY = ['shm_exporter_discovery_left_out'];

/** The metrics that the demo lacks. */
const MISSING = [
  ...OF_WEB_CONFIG,
  ...OF_TARGETS_FOLDER,
  ...OF_JOINED_TARGETS,
  ...OF_WORKERS,
  ...OF_DISCOVERY,
];

interface Target {
  readonly labels: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: string;
  readonly data: { readonly result: readonly Series[] };
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
}

/**
 * Labels that a Prometheus Operator adds to each target. Metrics of ADH and ATS have labels with some of
 * these names.
 */
const OF_OPERATOR: Readonly<Record<string, string>> = {
  ...{ namespace: 'monitoring', pod: 'shm-exporter-x', container: 'shm-exporter' },
  ...{ endpoint: 'metrics', service: 'shm-exporter', node: 'worker-1' },
};

/** Changes a configuration so that targets get the labels of the Operator. */
function underOperator(configuration: string): string {
  const relabeling = Object.entries(OF_OPERATOR)
    .map(([label, value]) => `      - { target_label: ${label}, replacement: ${value} }\n`)
    .join('');
  return configuration.replaceAll(
    /^ {4}(?=http_sd_configs|static_configs)/gm,
    `    relabel_configs:\n${relabeling}    `,
  );
}

/** Returns the labels of series without those of the Operator, sorted so that two lists can be compared. */
const labelSets = (series: readonly Series[]): readonly string[] =>
  series
    .map(({ metric }) =>
      JSON.stringify(
        Object.entries(metric)
          .filter(([label, value]) => OF_OPERATOR[label] !== value)
          .toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ),
    )
    .toSorted();

/** The scrape interval in seconds, which is also the pause between two queries. */
const INTERVAL_S = 2;

/** Returns the configuration in deploy/prometheus for this exporter, with short intervals. */
function configuration(port: number): string {
  return readFileSync(`${PROMETHEUS}/prometheus.yml`, 'utf8')
    .replaceAll('127.0.0.1:9464', `127.0.0.1:${port}`)
    .replaceAll('15s', `${INTERVAL_S}s`)
    .replaceAll(/^ {2}- (\S+\.yml)$/gm, (_line, file: string) => {
      return `  - ${resolve(PROMETHEUS, file)}`;
    });
}

describe('dashboards and rules on a running exporter', function () {
  this.slow(60_000);
  // Stop the demo before `testPrograms` kills it: a killed demo would not remove its files.
  let demo: Running | undefined;
  after(() => demo?.stop());
  const programs = testPrograms();
  let exporter = '';
  let prometheus = '';
  /** A second Prometheus, whose targets have the labels of a Prometheus Operator. */
  let operator = '';

  before(async function () {
    needsPrograms(this, 'prometheus');
    const port = await freePort();
    exporter = `http://127.0.0.1:${port}`;
    const started = programs.start('demo', ['--port', String(port)]);
    demo = started;
    await waitFor('the demo is ready', () =>
      started.stdout.includes('Ctrl-C') ? true : undefined,
    );
    const plain = configuration(port);
    [prometheus, operator] = await Promise.all([
      startServer('plain', plain),
      startServer('operator', underOperator(plain)),
    ]);
  });

  /** Starts a Prometheus and returns its address once it has scraped every target. */
  async function startServer(name: string, text: string): Promise<string> {
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    const server = programs.command([
      'prometheus',
      `--config.file=${programs.write(`${name}.yml`, text)}`,
      `--storage.tsdb.path=${programs.path(name)}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ]);
    await waitFor('Prometheus has scraped every target', async () => {
      if (server.isOver) throw new Error(`Prometheus ended: ${server.stderr}`);
      const results = await found('up == 1', address).catch(() => []);
      // One more, because the exporter's own page is also a target.
      return results.length === (await targets()).length + 1 ? true : undefined;
    });
    return address;
  }

  /** The targets that Prometheus discovers. */
  async function targets(): Promise<readonly Target[]> {
    return (await (await fetch(`${exporter}/-/targets`)).json()) as readonly Target[];
  }

  async function api<T>(
    path: string,
    body: Readonly<Record<string, string>>,
    address = prometheus,
  ): Promise<T> {
    const url = `${address}/api/v1/${path}?${new URLSearchParams(body).toString()}`;
    return (await (await fetch(url)).json()) as T;
  }

  async function found(query: string, address = prometheus): Promise<readonly Series[]> {
    const { status, data } = await api<Answer>('query', { query }, address);
    if (status !== 'success') throw new Error(`${query}: ${JSON.stringify(data)}`);
    return data.result;
  }

  /**
   * Queries until every expression has a result or the time is up. Returns the expressions without a result.
   */
  async function emptyOnes(expressions: readonly string[]): Promise<readonly string[]> {
    let left = [...new Set(expressions)];
    const end = performance.now() + 120_000;
    while (left.length > 0 && performance.now() < end) {
      // Prometheus makes no scoped scrapes, but some panels show them.
      await fetch(`${exporter}/metrics/overview?server_key=82`).then((answer) => answer.text());
      const results = await Promise.all(left.map((query) => found(query)));
      left = left.filter((_expr, at) => results[at]?.length === 0);
      if (left.length > 0) await delay(INTERVAL_S * 1000);
    }
    return left;
  }

  // The dashboards of JVMs, of Varnish and of workers are left out, because they need running programs.
  // test/deploy/both-ways.test.ts tests them with recorded pages.
  for (const [file, board] of DASHBOARDS) {
    if (['jvm.json', 'multiprocess.json', 'varnish.json'].includes(file)) continue;
    it(`fill every panel of ${file} with data`, async () => {
      const expressions = expressionsOf(board)
        .map(([, expr]) => withoutVariables(expr))
        .filter((expr) => !MISSING.some((name) => expr.includes(name)));
      expect(await emptyOnes(expressions)).to.deep.equal([]);
    });

    it(`find values for every variable of ${file}`, async () => {
      for (const { query } of board.templating.list) {
        if (typeof query === 'string') continue;
        const [, match = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(query.query) ?? [];
        const { data } = await api<{ data: readonly string[] }>(`label/${label}/values`, {
          'match[]': withoutVariables(match),
        });
        expect(data, query.query).not.to.be.empty;
      }
    });
  }

  it('compute data for every recording rule', async () => {
    const names = RULES.filter(({ kind }) => kind === 'record').map(({ name }) => name);
    expect(await emptyOnes(names.filter((name) => !isOfVarnish(name)))).to.deep.equal([]);
  });

  it('give the same series if targets have the labels that the Prometheus Operator adds', async () => {
    const expressions = [
      ...[...DASHBOARDS.values()].flatMap((board) => expressionsOf(board).map(([, expr]) => expr)),
      ...RULES.filter(({ kind }) => kind === 'record').map(({ name }) => name),
    ];
    // Remove `topk`: which series are the highest may change between the two queries.
    let left = expressions.map((expr) =>
      withoutVariables(expr).replace(/^topk\(10, (.*)\)$/, '$1'),
    );
    // The result of a comparison such as "> 0" may also change between the two queries, so try again.
    const end = performance.now() + 120_000;
    while (left.length > 0 && performance.now() < end) {
      const answers = await Promise.all(
        left.map((query) => Promise.all([found(query), found(query, operator)])),
      );
      left = left.filter((_expr, at) => {
        const [plain = [], own = []] = answers[at] ?? [];
        return labelSets(plain).join('\n') !== labelSets(own).join('\n');
      });
      if (left.length > 0) await delay(INTERVAL_S * 1000);
    }
    expect(left).to.deep.equal([]);
  });

  it('name only existing metrics', async () => {
    const paths = (await targets()).map(({ labels: { app = '', server_key = '' } }) => {
      return `/metrics?${new URLSearchParams({ app, server_key }).toString()}`;
    });
    const pages = await Promise.all(
      ['/-/metrics', ...paths].map(async (path) => (await fetch(`${exporter}${path}`)).text()),
    );
    const families = [...pages.join('').matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(
      ([, name = '', type]) =>
        type === 'histogram' || type === 'summary'
          ? [name, `${name}_sum`, `${name}_count`, `${name}_bucket`]
          : [name],
    );
    const catalogued = [...loadCatalogues().values()]
      .flatMap((each) => [...each.families.keys()])
      .flatMap((name) => [name, `${name}_sum`, `${name}_count`]);
    const recorded = RULES.map(({ name }) => name);
    const absent = [...FROM_OTHERS, ...MISSING, ...OF_HOST_PAGE, ...OF_VARNISH];
    const known = new Set([...families, ...catalogued, ...recorded, ...absent]);
    const named = [
      ...[...DASHBOARDS.values()].flatMap((board) => expressionsOf(board).map(([, expr]) => expr)),
      ...RULES.map(({ expr }) => expr),
    ].flatMap(metricsOf);
    expect([...new Set(named)].filter((name) => !known.has(name))).to.deep.equal([]);
  });

  for (const [metric, label] of STATES)
    it(`show every ${label} of ${metric} on the dashboard of the exporter`, async () => {
      const { data } = await api<{ data: readonly string[] }>(`label/${label}/values`, {
        'match[]': metric,
      });
      const board = DASHBOARDS.get('shm_exporter.json');
      const text = (board ? expressionsOf(board) : []).map(([, expr]) => expr).join('\n');
      for (const value of data)
        expect(text).to.match(new RegExp(`${metric}\\{[^}]*,${label}="${value}"\\}`));
    });

  it('find each target once, although Prometheus scrapes the exporter in two jobs', async () => {
    const counted = await found('shm_exporter_internal_target_ready');
    expect(counted).to.have.length((await targets()).length);
    expect(await found('shm_exporter_target_info{job="shm"}')).to.be.empty;
  });

  it('fire only the alert about the license of the demo, which expires within two weeks', async () => {
    const firing = await found('ALERTS{alertstate="firing"}');
    // The short intervals make Prometheus time out after two seconds, and on a busy machine a scrape may take
    // longer.
    const names = firing
      .map(({ metric }) => metric['alertname'])
      .filter((name) => name !== 'ShmResponsesCut');
    expect(names).to.deep.equal(['ShmLicenseExpiring']);
  });
});
