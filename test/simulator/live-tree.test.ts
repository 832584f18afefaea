import { expect } from 'chai';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { Publisher } from '#app/native/publisher/publisher.js';
import { LiveTree } from '#app/simulator/live-tree.js';
import { Random } from '#app/simulator/course.js';
import { planTree } from '#app/simulator/tree-plan.js';

/** Runs a tree for some ticks, and returns the added ids in order and the count of removals. */
function changesOf(seed: number, ticks: number): { added: string[]; removed: number } {
  const publisher = new Publisher({
    contextId: `sim_${process.pid}`,
    serverKey: String(seed),
    pid: process.pid,
    realtimeNs: () => 0n,
  });
  const added: string[] = [];
  let removed = 0;
  const addRoot = publisher.addRoot.bind(publisher);
  const addObject = publisher.addObject.bind(publisher);
  const removeObject = publisher.removeObject.bind(publisher);
  publisher.addRoot = (name, ...rest) => {
    added.push(name);
    return addRoot(name, ...rest);
  };
  publisher.addObject = (parent, name, ...rest) => {
    if (parent.id === 0) throw new Error(`${name} has no parent`);
    added.push(name);
    return addObject(parent, name, ...rest);
  };
  publisher.removeObject = (object) => {
    removed++;
    removeObject(object);
  };
  try {
    const catalogue = loadCatalogues().get('ads');
    if (catalogue === undefined) throw new Error('no catalogue of ads');
    const tree = new LiveTree(publisher, 'h.1.ads', planTree(catalogue, 80), new Random(seed));
    for (let beat = 0; beat < ticks; beat++) tree.tick(0.1);
    return { added, removed };
  } finally {
    publisher.close();
  }
}

describe('LiveTree', () => {
  it('publishes every object once, parents before children', () => {
    const { added, removed } = changesOf(1, 0);
    expect(removed).to.equal(0);
    expect(added[0]).to.equal('h.1.ads');
    expect(new Set(added).size).to.equal(added.length);
  });

  it('adds and removes clients, and reuses their ids', () => {
    const { added, removed } = changesOf(2, 200);
    const ids = changesOf(2, 0).added;
    const returned = added.length - ids.length;
    expect(removed).to.be.within(15, 60);
    expect(returned).to.be.above(10);
    expect(new Set(added).size).to.be.below(added.length);
    expect(new Set(added)).to.deep.equal(new Set(ids));
  });

  it('publishes the same changes for the same seed, and different changes for another seed', () => {
    expect(changesOf(3, 60)).to.deep.equal(changesOf(3, 60));
    expect(changesOf(3, 60)).not.to.deep.equal(changesOf(4, 60));
  });
});

describe('Random', () => {
  it('returns the same numbers for the same seed, each at least 0 and below 1', () => {
    const numbers = (seed: number) => {
      const random = new Random(seed);
      return Array.from({ length: 1000 }, () => random.next());
    };
    expect(numbers(7)).to.deep.equal(numbers(7));
    expect(numbers(7)).not.to.deep.equal(numbers(8));
    expect(Math.min(...numbers(7))).to.be.within(0, 0.01);
    expect(Math.max(...numbers(7))).to.be.within(0.99, 1 - 2 ** -33);
  });
});
