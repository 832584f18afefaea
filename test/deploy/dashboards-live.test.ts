// The dashboards and rules return data from a real Prometheus that scrapes a running exporter.
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

/** Metrics with one series for each state, and the label that names it. */
const STATES = [
  ['shm_exporter_publisher_state', 'state'],
  ['shm_exporter_license_state', 'state'],
] as const;

/** Metrics of Prometheus itself and of node_exporter. */
const FROM_OTHERS = ['up', 'scrape_duration_seconds', 'ALERTS', 'node_textfile_mtime_seconds'];
/** The demo has no web configuration. test/end-to-end/web-config.test.ts shows these. */
const OF_WEB_CONFIG = [
  'shm_exporter_web_config_last_reload_successful',
  'shm_exporter_certificate_expiry_timestamp_seconds',
];
/** The demo prints no merged document. test/exporter/sinks.test.ts shows it. */
const OF_MERGED_DOCUMENTS = ['shm_exporter_merged_clashing_metrics'];

interface Target {
  readonly labels: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: string;
  readonly data: { readonly result: readonly unknown[] };
}

/** The configuration of deploy for this exporter, with short intervals. */
function configuration(port: number): string {
  return readFileSync(`${PROMETHEUS}/prometheus.yml`, 'utf8')
    .replaceAll('127.0.0.1:9464', `127.0.0.1:${port}`)
    .replaceAll('15s', '1s')
    .replaceAll(/^ {2}- (\S+\.yml)$/gm, (_line, file: string) => {
      return `  - ${resolve(PROMETHEUS, file)}`;
    });
}

describe('dashboards and rules on a running exporter', function () {
  this.slow(60_000);
  // Before the programs are killed: the demo removes its files only if it gets a signal that it handles.
  let demo: Running | undefined;
  after(() => demo?.stop());
  const programs = testPrograms();
  let exporter = '';
  let prometheus = '';

  before(async function () {
    needsPrograms(this, 'prometheus');
    const port = await freePort();
    exporter = `http://127.0.0.1:${port}`;
    const started = programs.start('demo', ['--port', String(port)]);
    demo = started;
    await waitFor('the demo is ready', () =>
      started.stdout.includes('Ctrl-C') ? true : undefined,
    );
    const file = programs.write('prometheus.yml', configuration(port));
    const own = await freePort();
    prometheus = `http://127.0.0.1:${own}`;
    const server = programs.command([
      'prometheus',
      `--config.file=${file}`,
      `--storage.tsdb.path=${programs.path('prometheus')}`,
      `--web.listen-address=127.0.0.1:${own}`,
      '--log.level=warn',
    ]);
    await waitFor('Prometheus has scraped every target', async () => {
      if (server.isOver) throw new Error(`Prometheus ended: ${server.stderr}`);
      const results = await found('up == 1').catch(() => []);
      // And the page of the exporter itself.
      return results.length === (await targets()).length + 1 ? true : undefined;
    });
  });

  /** The targets that Prometheus discovers. */
  async function targets(): Promise<readonly Target[]> {
    return (await (await fetch(`${exporter}/-/targets`)).json()) as readonly Target[];
  }

  async function api<T>(path: string, body: Readonly<Record<string, string>>): Promise<T> {
    const url = `${prometheus}/api/v1/${path}?${new URLSearchParams(body).toString()}`;
    return (await (await fetch(url)).json()) as T;
  }

  async function found(query: string): Promise<readonly unknown[]> {
    const { status, data } = await api<Answer>('query', { query });
    if (status !== 'success') throw new Error(`${query}: ${JSON.stringify(data)}`);
    return data.result;
  }

  /** Queries until every expression has a result or time is up; returns the expressions without one. */
  async function emptyOnes(expressions: readonly string[]): Promise<readonly string[]> {
    let left = [...new Set(expressions)];
    const end = performance.now() + 30_000;
    while (left.length > 0 && performance.now() < end) {
      // Scoped scrapes, which Prometheus does not make.
      await fetch(`${exporter}/metrics/overview?server_key=82`).then((answer) => answer.text());
      const results = await Promise.all(left.map(found));
      left = left.filter((_expr, at) => results[at]?.length === 0);
      if (left.length > 0) await delay(200);
    }
    return left;
  }

  // That of JVMs needs some; their tests compare each metric with what jcmd prints.
  for (const [file, board] of DASHBOARDS) {
    if (file === 'jvm.json') continue;
    it(`fill every panel of ${file} with data`, async () => {
      const expressions = expressionsOf(board).map(([, expr]) => withoutVariables(expr));
      expect(await emptyOnes(expressions)).to.deep.equal([]);
    });

    it(`have values for every variable of ${file}`, async () => {
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

  it('have data for every recording rule', async () => {
    const names = RULES.filter(({ kind }) => kind === 'record').map(({ name }) => name);
    expect(await emptyOnes(names)).to.deep.equal([]);
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
    const known = new Set([
      ...families,
      ...catalogued,
      ...recorded,
      ...FROM_OTHERS,
      ...OF_WEB_CONFIG,
      ...OF_MERGED_DOCUMENTS,
    ]);
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

  it('count each target once in a sum over both jobs', async () => {
    const [one, ...others] = (await found('count(shm_exporter_internal_target_ready)')) as {
      value: readonly [number, string];
    }[];
    expect(others).to.be.empty;
    expect(one?.value[1]).to.equal(String((await targets()).length));
    expect(await found('shm_exporter_target_info{job="shm"}')).to.be.empty;
  });

  it('fire only the alert for the license of the demo, which expires within two weeks', async () => {
    const firing = (await found('ALERTS{alertstate="firing"}')) as {
      metric: { alertname: string };
    }[];
    // With short intervals, Prometheus times out after a second, which a busy machine may take.
    const names = firing
      .map(({ metric }) => metric.alertname)
      .filter((name) => name !== 'ShmResponsesCut');
    expect(names).to.deep.equal(['ShmLicenseExpiring']);
  });
});
