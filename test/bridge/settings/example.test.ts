// The example configurations of the bridge are true: they load, and what belongs together fits.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { BRIDGE, COMPONENT as FIELDS } from '#app/bridge/settings/component-table.js';
import { loadConfig } from '#app/config/resolve.js';
import { planTargets } from '#app/exporter/plan.js';
import { tlsPath } from '../../support/component-certificates.js';
import { isInstalled } from '../../support/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { load } from './bridge-files.js';

const EXAMPLE = 'examples/shm_bridge.toml';
const SETUPS = 'examples/bridge';

type Series = readonly [name: string, labels: Readonly<Record<string, string>>, value: number];

/** A test for promtool: which alerts fire after five minutes of these values. JSON is YAML. */
function firingTest(series: readonly Series[], firing: readonly string[]): string {
  const input_series = series.map(([name, labels, value]) => ({
    series: `${name}{${Object.entries(labels)
      .map(([label, text]) => `${label}="${text}"`)
      .join(',')}}`,
    values: `${value}x20`,
  }));
  const promql_expr_test = [
    {
      expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: '5m',
      exp_samples: firing.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
    },
  ];
  const test = { interval: '15s', input_series, promql_expr_test };
  return JSON.stringify({ rule_files: ['alerts.yml'], evaluation_interval: '15s', tests: [test] });
}

describe(EXAMPLE, () => {
  const folder = temporaryFolder();
  const text = readFileSync(EXAMPLE, 'utf8');
  const plain = (toml: string) => {
    const { components, ...top } = load(folder.write('c.toml', toml));
    const facts = components.map((component) => ({ ...component, readKey: 0, selection: 0 }));
    return { ...top, components: facts };
  };

  it('loads as it stands, and with every # taken off, with nothing changed', () => {
    const bare = text.replace(/^(#.*)?\n/gm, '');
    expect(bare.split('\n')).to.have.lengthOf(5); // What is needed, and the end.
    expect(plain(text)).to.deep.equal(plain(bare));
    expect(plain(text.replace(/^#(?=\S)/gm, ''))).to.deep.equal(plain(bare));
    expect(plain(text).warnings).to.deep.equal([]);
  });

  for (const { key, fallback } of [...Object.values(BRIDGE), ...Object.values(FIELDS)])
    it(`shows ${key}`, () =>
      expect(text).to.match(new RegExp(`^${fallback === undefined ? '' : '#'}${key} = `, 'm')));
});

describe(SETUPS, () => {
  const folder = temporaryFolder();
  /** The folder as an operator fills it: keys, and the certificate of a component. */
  beforeEach(() => {
    for (const file of readdirSync(SETUPS)) copyFileSync(`${SETUPS}/${file}`, folder.path(file));
    for (const key of ['ads.key', 'adh.key']) chmodSync(folder.write(key, `${key}\n`), 0o600);
    copyFileSync(tlsPath('component.cert.pem'), folder.path('adh.pem'));
  });

  it('has a file for the bridge and one for the exporter of each setup, and those of Prometheus', () =>
    expect(readdirSync(SETUPS).sort()).to.deep.equal([
      'adh-exporter.toml',
      'adh.toml',
      'ads-exporter.toml',
      'ads.toml',
      'alerts.yml',
      'pair-exporter.toml',
      'pair.toml',
      'prometheus.yml',
    ]));

  it('has a configuration and rules that Prometheus takes', function () {
    if (!isInstalled('promtool')) this.skip();
    const check = ['check', 'config', `${SETUPS}/prometheus.yml`];
    const { status, stdout, stderr } = spawnSync('promtool', check, { encoding: 'utf8' });
    expect(status, stdout + stderr).to.equal(0);
    expect(stdout).to.include('SUCCESS: 5 rules found');
  });

  const UP = { instance: 'e', job: 'shm_exporter' };
  const AT = { instance: 'e', server_key: '82' };
  const happenings: readonly (readonly [string, readonly Series[], readonly string[]])[] = [
    [
      'nothing while all is well',
      [
        ['up', UP, 1],
        ['up', { ...AT, job: 'shm', app: 'ads' }, 1],
        ['up', { ...AT, job: 'shm', app: 'shm_bridge' }, 1],
        ['shm_bridge_component_up', AT, 1],
      ],
      [],
    ],
    [
      'the exporter alone when it is down',
      [
        ['up', UP, 0],
        ['up', { ...AT, job: 'shm', app: 'ads' }, 0],
        ['up', { ...AT, job: 'shm', app: 'shm_bridge' }, 0],
      ],
      ['ExporterDown'],
    ],
    [
      'the bridge when it is down',
      [
        ['up', UP, 1],
        ['up', { ...AT, job: 'shm', app: 'ads' }, 0],
        ['up', { ...AT, job: 'shm', app: 'shm_bridge' }, 0],
      ],
      ['ComponentNotPolled'],
    ],
    [
      'the component when it is down',
      [
        ['up', UP, 1],
        ['up', { ...AT, job: 'shm', app: 'ads' }, 0],
        ['up', { ...AT, job: 'shm', app: 'shm_bridge' }, 1],
        ['shm_bridge_component_up', AT, 0],
      ],
      ['ComponentNotPolled'],
    ],
    [
      'the target when its component is polled and it has no page',
      [
        ['up', UP, 1],
        ['up', { ...AT, job: 'shm', app: 'adh' }, 0],
        ['up', { ...AT, job: 'shm', app: 'shm_bridge' }, 1],
        ['shm_bridge_component_up', AT, 1],
      ],
      ['TargetNotReady'],
    ],
    [
      'values that are old',
      [['shm_exporter_target_as_of_age_seconds', { ...AT, job: 'shm_exporter', app: 'ads' }, 30]],
      ['ComponentStale'],
    ],
  ];
  for (const [sentence, series, firing] of happenings)
    it(`alerts of ${sentence}`, function () {
      if (!isInstalled('promtool')) this.skip();
      const file = folder.write('alerts-test.yml', firingTest(series, firing));
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], {
        encoding: 'utf8',
      });
      expect(status, stdout + stderr).to.equal(0);
    });

  const setups = { ads: ['ads'], adh: ['adh'], pair: ['ads', 'adh'] };
  for (const [setup, apps] of Object.entries(setups)) {
    it(`${setup}.toml loads without a warning`, () => {
      const { components, warnings } = load(folder.path(`${setup}.toml`));
      expect(warnings).to.deep.equal([]);
      expect(components.map(({ name }) => name)).to.deep.equal(apps);
      for (const { securityKey, name } of components) expect(securityKey).to.equal(`${name}.key`);
    });

    it(`${setup}-exporter.toml has each component and what the bridge says of it as targets`, () => {
      const { contextId, poolName, components } = load(folder.path(`${setup}.toml`));
      const config = loadConfig({
        configFile: folder.path(`${setup}-exporter.toml`),
        overrides: {},
      });
      expect(config.settings).to.include({ contextId, poolName, metricsHttpEnabled: true });
      expect(config.warnings).to.deep.equal([]);
      expect(planTargets(config).flatMap(({ warnings }) => warnings)).to.deep.equal([]);
      const targets = config.targets.map(({ app, serverKeys }) => [app, ...serverKeys]);
      expect(targets).to.deep.equal(
        components.flatMap(({ name, serverKey }) => [
          [name, serverKey],
          ['shm_bridge', serverKey],
        ]),
      );
    });
  }
});
