// Which scopes there are after a reload. Spec 2.3.
import { expect } from 'chai';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { ScopeRegistry } from '#app/exporter/scope-registry.js';

describe('ScopeRegistry', () => {
  const scopes = (entries: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(entries).map(([name, metrics]) => ({ name, metrics: [...metrics] }));

  it('adds, removes and changes scopes, and leaves those that are equal as they are', () => {
    const registry = new ScopeRegistry();
    registry.update(scopes({ same: ['a_*'], changed: ['b'], gone: ['c'] }), []);
    const [same, changed] = [registry.get('same'), registry.get('changed')];
    registry.update(scopes({ added: ['d'], changed: ['e'], same: ['a_*'] }), []);
    expect(registry.get('same'), 'what is cached for it stays').to.equal(same);
    expect(registry.get('gone')).to.equal(undefined);
    expect(registry.get('added')?.selects({ name: 'd', type: 'gauge' })).to.equal(true);
    expect(registry.get('changed')).not.to.equal(changed);
    expect(registry.get('changed')?.selects({ name: 'b', type: 'gauge' })).to.equal(false);
    expect(registry.get('changed')?.selects({ name: 'e', type: 'gauge' })).to.equal(true);
  });

  it('names the scopes that an application has metrics for, with a catalogue or without', () => {
    const registry = new ScopeRegistry();
    const configs = scopes({
      ads: ['ads_*'],
      both: ['*_num_clients'],
      internal: ['shm_exporter_internal_*'],
      shop: ['shop_till_*', 'nothing'],
      series: ['*_latency_seconds_bucket'],
      none: ['nothing_*'],
    });
    const catalogues = loadCatalogues([], () => undefined);
    const application = (app: string) => ({ app, catalogue: catalogues.get(app) });
    registry.update(configs, [application('ads'), application('shop')]);
    const ofAds = ['ads', 'both', 'internal', 'series'];
    expect(registry.namesFor('ads')).to.deep.equal(ofAds);
    // What describes itself may have any metric that begins with its name.
    expect(registry.namesFor('shop')).to.deep.equal(['both', 'internal', 'shop', 'series']);
    expect(registry.namesFor('adh'), 'which no target is of').to.deep.equal([]);
    registry.update(scopes({ ads: ['ads_*'] }), [application('ads')]);
    expect(registry.namesFor('ads')).to.deep.equal(['ads']);
  });
});
