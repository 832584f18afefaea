// Tests the publication of a scenario, including trees that a publisher refuses.
import { expect } from 'chai';
import { parseScenario } from '#app/simulator/scenario.js';
import { stageOf } from '#app/simulator/simulation.js';
import { readTree } from '../support/read-tree.js';
import { TINY, freshSegments } from '../support/segments.js';

describe('A simulated scenario', () => {
  const segments = freshSegments();
  const publishObjects = (objects: readonly object[]) => {
    const publisher = segments.publish('82');
    const stage = stageOf(publisher, parseScenario(JSON.stringify({ objects }), 'test'));
    const seen = () => {
      const { source } = segments.poller('82').poll();
      return source === undefined ? [] : readTree(source, TINY.slots);
    };
    return { stage, seen };
  };

  it('publishes a variable without a value as not synced, for every type', () => {
    const types = ['u64', 'i64', 'f64', 'bool', 'string', 'histogram', 'summary'];
    const variables = Object.fromEntries(types.map((type) => [type, { type }]));
    const { stage, seen } = publishObjects([{ id: 'r', class: 'C', variables }]);
    const values = () => seen()[0]?.variables.map(({ name, value }) => [name, value]);
    expect(values()).to.deep.equal(types.map((type) => [type, undefined]));
    stage.set('r', 'histogram', { bounds: [], counts: [3], sum: 6 });
    expect(values()?.filter(([, value]) => value !== undefined)).to.deep.equal([
      ['histogram', { type: 'histogram', counts: BigUint64Array.of(3n), sum: 6 }],
    ]);
  });

  it('can have an object whose id does not begin with the id of its parent', () => {
    const { seen } = publishObjects([
      { id: 'r', class: 'C' },
      { id: 'elsewhere', parent: 'r', class: 'C' },
    ]);
    expect(seen()[0]?.children.map(({ name }) => name)).to.deep.equal(['elsewhere']);
  });
});
