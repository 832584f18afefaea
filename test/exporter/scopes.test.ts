// The metric scopes after a reload. Spec 2.3.
import { expect } from 'chai';
import { loadConfig } from '#app/config/resolve.js';
import { planTargets } from '#app/exporter/plan.js';
import { ScopeRegistry } from '#app/exporter/scopes.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the scope registry', () => {
  const folder = temporaryFolder();
  const scopes = (entries: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(entries).map(([name, metrics]) => ({ name, metrics: [...metrics] }));

  it('adds, removes and changes scopes, and keeps unchanged scopes with their caches', () => {
    const registry = new ScopeRegistry();
    registry.update(scopes({ same: ['a_*'], changed: ['b'], gone: ['c'] }));
    const [same, changed] = [registry.get('same'), registry.get('changed')];
    registry.update(scopes({ added: ['d'], changed: ['e'], same: ['a_*'] }));
    expect(registry.get('same'), 'what is cached for it stays').to.equal(same);
    expect(registry.get('gone')).to.equal(undefined);
    expect(registry.get('added')?.selects({ name: 'd', type: 'gauge' })).to.equal(true);
    expect(registry.get('changed')).not.to.equal(changed);
    expect(registry.get('changed')?.selects({ name: 'b', type: 'gauge' })).to.equal(false);
    expect(registry.get('changed')?.selects({ name: 'e', type: 'gauge' })).to.equal(true);
  });

  it('returns for a target the scopes that can select its metrics', () => {
    const registry = new ScopeRegistry();
    const targets = ['ads', 'adh', 'mine'].map((app) => ({ app, serverKeys: ['1'] }));
    const toml = targets
      .map(({ app }) => `[[targets]]\napp = "${app}"\nserver_key = "1"\n`)
      .join('');
    const few = '[[targets]]\napp = "ads"\nserver_key = "2"\nclasses = ["process"]\n';
    const more = '[[targets]]\napp = "ads"\nserver_key = "3"\nshow_uncatalogued = true\n';
    const file = folder.write('c.toml', toml + few + more);
    const config = loadConfig({ configFile: file, overrides: {} });
    const all = {
      internal: ['shm_exporter_*'],
      any: ['*_num_clients'],
      ads: ['ads_process_*'],
      mine: ['mine_load', 'x'],
      uncatalogued: ['ads_no_such_row'],
      none: ['nothing'],
    };
    registry.update(scopes(all), planTargets(config));
    const names = (app: string, key = '1') =>
      registry.namesFor({ app, serverKeys: [key], instance: '' });
    expect(names('ads')).to.deep.equal(['internal', 'any', 'ads']);
    expect(names('ads', '2'), 'its classes alone').to.deep.equal(['internal', 'ads']);
    expect(names('ads', '3')).to.deep.equal(['internal', 'any', 'ads', 'uncatalogued']);
    expect(names('adh')).to.deep.equal(['internal', 'any']);
    expect(names('mine')).to.deep.equal(['internal', 'mine']);
    expect(names('other'), 'no target').to.deep.equal([]);
    expect(registry.unmatched, 'none of them').to.equal(1);
  });
});
