// A real Prometheus discovers three targets of two exporters and scrapes them over TLS, with passwords.
import { expect } from 'chai';
import { hashSync } from 'bcryptjs';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tlsPath } from '../support/component-certificates.js';
import { freePort } from '../support/free-port.js';
import { PROJECT, waitFor, testPrograms } from '../support/processes.js';
import { UNOBSERVED, expectedSeries } from './oracle.js';
import type { ScenarioFile } from './oracle.js';
import { seriesKey } from './page.js';
import type { Labels } from './page.js';
import { needs, needsPrograms } from '../support/needs.js';

const RECORDED = join(PROJECT, '../shared/data/adh-3.8-recorded.scenario.json');
const ADH_ROOT = 'lseg1.bgp59.com.1.adh';

interface Vector {
  readonly data: {
    readonly result: readonly { readonly metric: Labels; readonly value: [number, string] }[];
  };
}

/** Labels that discovery and Prometheus add. They are not on the page. */
const ADDED = ['__name__', 'job', 'instance', 'app', 'server_key', 'root'];

/**
 * The tree of an application without a catalogue: a shop with tills. Their sales are `first`, `first` + 1 and
 * so on.
 */
const shop = (app: string, tills: number, first: number): ScenarioFile => ({
  objects: [
    { id: `h.1.${app}`, class: 'Shop', variables: {} },
    ...Array.from({ length: tills }, (_, at) => ({
      ...{ id: `h.1.${app}.till${at}`, parent: `h.1.${app}`, class: 'Till' },
      variables: { sales: { type: 'u64', kind: 'counter', value: first + at } },
    })),
  ],
});

describe('Prometheus over TLS with passwords', function () {
  this.slow(30_000);
  const programs = testPrograms();
  let prometheus = '';

  /** Starts an exporter with the server's certificate, on a port of its own. Returns its URL. */
  async function exporterOf(targets: readonly (readonly [app: string, key: string])[]) {
    const tables = targets.map(
      ([app, key]) => `[[targets]]\napp = "${app}"\nserver_key = "${key}"\n`,
    );
    const config = programs.config(
      { web_config_file: programs.path('web.yml') },
      tables.join('\n'),
    );
    const exporter = programs.start('exporter', ['--config', config]);
    const [, url = ''] = await exporter.line(/metrics at (https:\S+)/);
    return new URL(url);
  }

  before(async function () {
    needsPrograms(this, 'prometheus');
    needs(this, existsSync(RECORDED), 'the recorded tree is not beside the project');
    programs.publish(RECORDED);
    programs.publish(shop('north', 40, 1000), '--server-key', '81');
    programs.publish(shop('south', 50, 9_007_199_254_740_000), '--server-key', '82');
    programs.write(
      'web.yml',
      `tls_server_config:
  cert_file: ${tlsPath('component.cert.pem')}
  key_file: ${tlsPath('component.key.pem')}
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ${tlsPath('client-ca.cert.pem')}
  min_version: TLS13
basic_auth_users:
  prometheus: ${hashSync('s:cret', 4)}
`,
    );
    const urls = await Promise.all([
      exporterOf([
        ['adh', '80'],
        ['north', '81'],
      ]),
      exporterOf([['south', '82']]),
    ]);
    const access = `basic_auth: { username: prometheus, password: 's:cret' }
    tls_config:
      ca_file: ${tlsPath('component.cert.pem')}
      cert_file: ${tlsPath('client.cert.pem')}
      key_file: ${tlsPath('client.key.pem')}`;
    const discoveries = urls.map(
      ({ origin }) => `      - url: ${origin}/-/targets
        refresh_interval: 1s
        ${access.replaceAll('\n', '\n    ')}
`,
    );
    const file = programs.write(
      'prometheus.yml',
      `global: { scrape_interval: 1s }
scrape_configs:
  - job_name: shm
    scheme: https
    ${access}
    http_sd_configs:
${discoveries.join('')}`,
    );
    const port = await freePort();
    prometheus = `http://127.0.0.1:${port}`;
    programs.command([
      'prometheus',
      `--config.file=${file}`,
      `--storage.tsdb.path=${programs.path('tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    await waitFor('all targets are up, with their roots', async () => {
      const up = await query('up').catch(() => []);
      return up.length === 3 &&
        up.every(({ metric, value }) => 'root' in metric && value[1] === '1')
        ? true
        : undefined;
    });
  });

  async function query(expression: string): Promise<Vector['data']['result']> {
    const url = `${prometheus}/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`;
    return ((await (await fetch(url)).json()) as Vector).data.result;
  }

  /** Returns the application metrics that Prometheus has stored for a target. */
  async function stored(app: string): Promise<ReadonlyMap<string, number>> {
    const found = await query(`{app="${app}",__name__!~"shm_exporter_.*|up|scrape_.*"}`);
    return new Map(
      found.map(({ metric, value }) => {
        const labels = Object.entries(metric).filter(([label]) => !ADDED.includes(label));
        return [seriesKey(metric['__name__'] ?? '', Object.fromEntries(labels)), Number(value[1])];
      }),
    );
  }
  const sorted = (series: Iterable<readonly [string, number]>) =>
    [...series].map(([key, value]) => `${key} ${value}`).sort();

  it('labels each target with application, server key and root', async () => {
    const targets = (await query('up')).map(
      ({ metric: { app, server_key, root } }) => `${app} ${server_key} ${root}`,
    );
    expect(targets.sort()).to.deep.equal([
      `adh 80 ${ADH_ROOT}`,
      'north 81 h.1.north',
      'south 82 h.1.south',
    ]);
  });

  it('stores every value of the recorded tree', async () => {
    const recorded = JSON.parse(readFileSync(RECORDED, 'utf8')) as ScenarioFile;
    const wanted = [...expectedSeries('adh', recorded, ADH_ROOT)].filter(
      ([, value]) => value !== UNOBSERVED,
    );
    expect(wanted.length).to.be.greaterThan(150);
    const found = await stored('adh');
    const number = (value: string) => Number(value.replace('Inf', 'Infinity'));
    expect(sorted(wanted.map(([key]) => [key, found.get(key) ?? NaN]))).to.deep.equal(
      sorted(wanted.map(([key, value]) => [key, number(value)])),
    );
  });

  for (const [app, tills, first] of [
    ['north', 40, 1000],
    ['south', 50, 9_007_199_254_740_000],
  ] as const)
    it(`stores every value of the application ${app}, and no other value`, async () => {
      const wanted = Array.from({ length: tills }, (_, at): [string, number] => [
        seriesKey(`${app}_till_sales_total`, { object: `till${at}` }),
        first + at,
      ]);
      expect(sorted(await stored(app))).to.deep.equal(sorted(wanted));
    });
});
