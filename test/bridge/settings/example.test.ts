// Tests the example configurations of the bridge: they load, and the files of one setup agree with each
// other.
import { expect } from 'chai';
import { keyOf } from '#app/rules/table.js';
import { chmodSync, copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { BRIDGE, COMPONENT as FIELDS } from '#app/bridge/settings/component-table.js';
import { loadConfig } from '#app/config/resolve.js';
import { planTargets } from '#app/exporter/plan.js';
import { tlsPath } from '../../support/component-certificates.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { load } from './bridge-files.js';

const EXAMPLE = 'examples/shm_bridge.toml';
const SETUPS = 'examples/bridge';

describe(EXAMPLE, () => {
  const folder = temporaryFolder();
  const text = readFileSync(EXAMPLE, 'utf8');
  const plain = (toml: string) => {
    const { components, ...top } = load(folder.write('c.toml', toml));
    const facts = components.map((component) => ({ ...component, readKey: 0, selection: 0 }));
    return { ...top, components: facts };
  };

  it('loads without warnings, and means the same with all settings uncommented', () => {
    const bare = text.replace(/^(#.*)?\n/gm, '');
    expect(bare.split('\n')).to.have.lengthOf(5); // The required lines, and '' after the last line feed.
    expect(plain(text)).to.deep.equal(plain(bare));
    expect(plain(text.replace(/^#(?=\S)/gm, ''))).to.deep.equal(plain(bare));
    expect(plain(text).warnings).to.deep.equal([]);
  });

  for (const [name, { fallback }] of Object.entries({ ...BRIDGE, ...FIELDS }))
    it(`shows ${keyOf(name)}`, () =>
      expect(text).to.match(
        new RegExp(`^${fallback === undefined ? '' : '#'}${keyOf(name)} = `, 'm'),
      ));
});

describe(SETUPS, () => {
  const folder = temporaryFolder();
  /** Writes the files that an operator provides: keys, and the certificate of a component. */
  beforeEach(() => {
    for (const file of readdirSync(SETUPS)) copyFileSync(`${SETUPS}/${file}`, folder.path(file));
    for (const key of ['ads.key', 'adh.key']) chmodSync(folder.write(key, `${key}\n`), 0o600);
    copyFileSync(tlsPath('component.cert.pem'), folder.path('adh.pem'));
  });

  it('has a README, and for each setup a file for the bridge and a file for the exporter', () =>
    expect(readdirSync(SETUPS).sort()).to.deep.equal([
      'README.md',
      'adh-exporter.toml',
      'adh.toml',
      'ads-exporter.toml',
      'ads.toml',
      'pair-exporter.toml',
      'pair.toml',
    ]));

  const setups = { ads: ['ads'], adh: ['adh'], pair: ['ads', 'adh'] };
  for (const [setup, apps] of Object.entries(setups)) {
    it(`${setup}.toml loads without a warning`, () => {
      const { components, warnings } = load(folder.path(`${setup}.toml`));
      expect(warnings).to.deep.equal([]);
      expect(components.map(({ name }) => name)).to.deep.equal(apps);
      for (const { securityKey, name } of components) expect(securityKey).to.equal(`${name}.key`);
    });

    it(`${setup}-exporter.toml has a target for each component and for the bridge itself`, () => {
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
