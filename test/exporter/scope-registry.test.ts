// Which scopes there are after a reload. Spec 2.3.
import { expect } from 'chai';
import { ScopeRegistry } from '#app/exporter/scope-registry.js';

describe('ScopeRegistry', () => {
  const scopes = (entries: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(entries).map(([name, metrics]) => ({ name, metrics: [...metrics] }));

  it('adds, removes and changes scopes, and leaves those that are equal as they are', () => {
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
});
