// The example configuration is true: it loads, and its commented keys are the defaults.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { loadConfig } from '#app/config/resolve.js';
import { SETTINGS } from '#app/config/settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const EXAMPLE = 'examples/shm_exporter.toml';

describe(EXAMPLE, () => {
  const folder = temporaryFolder();
  const load = (configFile?: string) => loadConfig({ configFile, overrides: {} });
  const uncommented = () =>
    load(folder.write('c.toml', readFileSync(EXAMPLE, 'utf8').replace(/^#(?=\S)/gm, '')));

  it('changes nothing as it stands', () => {
    const { settings, targets, scopes, warnings } = load(EXAMPLE);
    const { settings: defaults, targets: one } = load();
    expect({ settings, targets, scopes, warnings }).to.deep.equal({
      settings: defaults,
      targets: one,
      scopes: [],
      warnings: [],
    });
  });

  it('loads with every # taken off, and the defaults stay', () => {
    const { settings, targets, scopes } = uncommented();
    expect(settings).to.deep.equal(load().settings);
    expect(targets).to.have.lengthOf(2);
    expect(scopes).to.have.lengthOf(2);
  });

  for (const { key } of Object.values(SETTINGS))
    it(`shows ${key}`, () =>
      expect(readFileSync(EXAMPLE, 'utf8')).to.match(new RegExp(`^#${key} = `, 'm')));
});
