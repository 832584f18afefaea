// Copying values out of a source that changes at any moment.
import { expect } from 'chai';
import type { ManagedObject, Variable } from '#app/model.js';
import { Kernel } from '#app/exposition/kernel/kernel.js';
import { Probe } from '#app/exposition/probe.js';
import type { ProbeListener, Tracked } from '#app/exposition/probe.js';
import { FakeSource } from '../support/fake-source.js';

/** A probe that notes what it tells, as `synced name`. */
function probeOf(source: FakeSource, kernel = new Kernel()) {
  const told: string[] = [];
  const react: Partial<Record<keyof ProbeListener, (item: Tracked) => void>> = {};
  const listen = (what: keyof ProbeListener) => (item: Tracked) => {
    told.push(`${what} ${item.name}`);
    react[what]?.(item);
  };
  const probe = new Probe(kernel, source, {
    synced: listen('synced'),
    changed: listen('changed'),
    unsynced: listen('unsynced'),
  });
  return {
    kernel,
    probe,
    react,
    /** What one read tells. */
    read(): string[] {
      told.length = 0;
      probe.read();
      return [...told];
    },
    valueOf: (item: ManagedObject | Variable) => probe.bits(item),
  };
}

const shop = (source = new FakeSource()) => ({
  source,
  root: source.addObject('h.1.shop', 'Shop'),
});

describe('the probe', () => {
  it('works beyond 2 GiB', () => {
    const { source, root } = shop();
    const sales = source.addVariable(root, 'sales', { type: 'u64', value: 7n });
    const kernel = new Kernel();
    kernel.arena.take(2 ** 31);
    const { probe, read, valueOf } = probeOf(source, kernel);
    probe.track(sales);
    probe.watch(sales);
    expect(read()).to.deep.equal(['synced sales', 'changed sales']);
    expect(valueOf(sales)).to.equal(7n);
    source.set(sales, 8n);
    expect(read()).to.deep.equal(['changed sales']);
  });

  it('tells of a change although another item stops being watched in the same read', () => {
    const { source, root } = shop();
    const first = source.addVariable(root, 'first', { type: 'u64', value: 1n });
    const last = source.addVariable(root, 'last', { type: 'u64', value: 1n });
    const { probe, react, read } = probeOf(source);
    for (const variable of [first, last]) {
      probe.track(variable);
      probe.watch(variable);
    }
    read();
    react.unsynced = (item) => probe.unwatch(item);
    source.setSynced(first, false);
    source.set(last, 2n);
    expect(read()).to.deep.equal(['unsynced first', 'changed last']);
    expect(read()).to.deep.equal([]);
  });

  it('keeps the last copy of what the source no longer has', () => {
    const { source, root } = shop();
    const near = source.addVariable(root, 'near', { type: 'u64', value: 1n, slot: 512 + 7 });
    const far = source.addVariable(root, 'far', { type: 'u64', value: 2n, slot: 9 * 512 + 7 });
    const late = source.addVariable(root, 'late', { type: 'u64', slot: 9 * 512 + 8 });
    source.addVariable(root, 'other', { type: 'u64', value: 3n, slot: 512 + 8 });
    const { probe, read, valueOf } = probeOf(source);
    for (const variable of [near, far, late]) probe.track(variable);
    expect(read()).to.deep.equal(['synced near', 'synced far']);
    source.end = 9 * 512;
    source.set(near, 4n);
    expect(read()).to.deep.equal([]);
    expect([near, far, late].map(valueOf)).to.deep.equal([4n, 2n, undefined]);
  });

  it('tells again at the next read, not at this one', () => {
    const { source, root } = shop();
    const text = source.addVariable(root, 'text', { type: 'string', value: 'a' });
    const { probe, react, read } = probeOf(source);
    react.synced = (item) => {
      probe.watch(item);
      probe.again(item);
    };
    probe.track(text);
    expect(read()).to.deep.equal(['synced text']);
    expect(read()).to.deep.equal(['changed text']);
    expect(read()).to.deep.equal([]);
    probe.again(text);
    probe.unwatch(text);
    expect(read()).to.deep.equal([]);
  });
});
