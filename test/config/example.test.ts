// Tests that the example configuration loads, and that its commented keys have the defaults.
import { expect } from 'chai';
import { keyOf } from '#app/rules/table.js';
import { readFileSync } from 'node:fs';
import { loadConfig } from '#app/config/resolve.js';
import { SETTINGS } from '#app/config/settings.js';
import { planTargets } from '#app/exporter/plan.js';
import { scopeWarnings } from '#app/exporter/scopes.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const EXAMPLE = 'examples/shm_exporter.toml';

describe(EXAMPLE, () => {
  const folder = temporaryFolder();
  const load = (configFile?: string) => loadConfig({ configFile, overrides: {} });
  const uncommented = () =>
    load(folder.write('c.toml', readFileSync(EXAMPLE, 'utf8').replace(/^#(?=\S)/gm, '')));

  it('changes no default', () => {
    const { settings, targets, scopes, warnings } = load(EXAMPLE);
    const { settings: defaults, targets: one } = load();
    expect({ settings, targets, scopes, warnings }).to.deep.equal({
      settings: defaults,
      targets: one,
      scopes: [],
      warnings: [],
    });
  });

  it('loads with all settings uncommented, and changes no default', () => {
    const { settings, targets, scopes } = uncommented();
    expect(settings).to.deep.equal(load().settings);
    expect(targets.map(({ app }) => app)).to.deep.equal([
      'ads',
      'adh',
      'ats',
      'jvm',
      'web',
      'varnish',
      'shop',
      'ads',
    ]);
    expect(scopes.map(({ name }) => name)).to.deep.equal(['overview', 'sources', 'latency']);
  });

  it('names only metrics, classes and groups that exist, and uses every key of a target', () => {
    const config = uncommented();
    const plan = planTargets(config);
    expect(plan.flatMap(({ warnings }) => warnings)).to.deep.equal([]);
    expect(scopeWarnings(config, plan)).to.deep.equal([]);
    const keys = [
      'variable',
      'instance',
      'classes',
      'seedPathGroups',
      'seedPaths',
      'pathLabels',
      'publisherTimeZone',
    ] as const;
    for (const key of keys)
      expect(
        config.targets.some((target) => target[key].length > 0),
        key,
      ).to.be.true;
    expect(config.targets.some(({ showUncatalogued }) => showUncatalogued)).to.be.true;
  });

  it('with all settings uncommented warns only of single-target keys, which [[targets]] make ineffective', () => {
    const others = uncommented().warnings.filter(
      (warning) => !warning.endsWith('is ignored because of [[targets]]'),
    );
    expect(others).to.deep.equal([]);
  });

  for (const key of Object.keys(SETTINGS).map(keyOf))
    it(`shows ${key}`, () =>
      expect(readFileSync(EXAMPLE, 'utf8')).to.match(new RegExp(`^#${key} = `, 'm')));
});
