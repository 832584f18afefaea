// If several variables of an object have the same name, the latest is shown.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Variable } from '#app/model.js';
import { FakeSource } from '../../support/fake-source.js';
import { shopCatalogue, testView } from '../test-view.js';

const ROWS =
  '{ name = "shop_x", type = "gauge", help = "Help.", var = "v" },' +
  '{ name = "shop_y", type = "gauge", help = "Help.", var = "w" },';

/** A set that counts how often a loop iterates over it. */
class CountingSet<T> extends Set<T> {
  walks = 0;
  override [Symbol.iterator]() {
    this.walks++;
    return super[Symbol.iterator]();
  }
  override values() {
    this.walks++;
    return super.values();
  }
}

describe('variables with the same name in one object', () => {
  it('show the value of the newest remaining variable', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 40 }), (steps) => {
        const source = new FakeSource();
        const root = source.addObject('h.1.shop', 'Shop');
        const { lines } = testView(source, root, { catalogue: shopCatalogue(ROWS) });
        const there: Variable[] = [];
        for (const [isAdded, at] of steps) {
          const gone = there[at % Math.max(1, there.length)];
          if (isAdded || gone === undefined)
            there.push(source.addVariable(root, 'v', { type: 'u64', value: steps.length + at }));
          else source.remove(...(there.splice(there.indexOf(gone), 1) as [Variable]));
          if (at % 3 === 0) lines();
        }
        const value = there.length === 0 ? [] : [there.at(-1)];
        expect(lines()).to.have.lengthOf(value.length);
        for (const variable of value) {
          if (variable !== undefined) source.set(variable, 7777);
          expect(lines()).to.deep.equal(['shop_x 7777']);
        }
      }),
    ));

  it('are each visited once when their object is removed', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    const variables = new CountingSet<Variable>();
    Object.assign(root, { variables });
    for (let i = 0; i < 500; i++)
      source.addVariable(root, i % 10 === 0 ? 'v' : `v${i}`, { type: 'u64', value: i });
    const { lines } = testView(source, root, { catalogue: shopCatalogue(ROWS) });
    expect(lines()).to.deep.equal(['shop_x 490']);
    variables.walks = 0;
    source.remove(root);
    const { walks } = variables;
    expect(lines()).to.deep.equal([]);
    expect(variables.walks - walks).to.equal(1);
  });
});
