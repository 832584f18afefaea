// TargetView: the items that it tracks and waits for, and the series that it shows.
import { expect } from 'chai';
import type { ObjectState } from '#app/model.js';
import { pluralize } from '#app/pluralize.js';
import { TargetView } from '#app/exposition/target-view.js';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { FakeSource } from '../support/fake-source.js';
import type { FakeObject } from '../support/fake-source.js';
import { iterationSteps } from '../support/iteration-steps.js';
import { shopCatalogue, testView } from './test-view.js';
import { runToEnd } from '#app/run-to-end.js';
import { linesOf } from '../support/snapshot-of.js';

const CATALOGUE = shopCatalogue(
  `{ name = "shop_tills", type = "gauge", help = "Tills.", var = "tills" },
   { name = "shop_state", type = "stateset", help = "State.", var = "@state" },`,
  `{ name = "shop_sales_total", type = "counter", help = "Sales.", var = "sales" },`,
);

/** Returns a shop with the variable `tills`, and a function that adds tills. */
function shop() {
  const source = new FakeSource();
  const root = source.addObject('h.1.shop', 'Shop');
  const tills = source.addVariable(root, 'tills', { type: 'u64', value: 2 });
  const till = (path: string, sales?: number, parent = root): FakeObject => {
    const object = source.addObject(`h.1.shop.${path}`, 'Till', { parent });
    source.addVariable(object, 'sales', { type: 'u64', value: sales });
    return object;
  };
  return { source, root, tills, till };
}

const isTillLine = (line: string) => line.startsWith('shop_sales');
const progress = (objects: readonly number[], variables: readonly number[], reason = '') => ({
  objects: { synced: objects[0], total: objects[1] },
  variables: { synced: variables[0], total: variables[1] },
  reason,
});

describe('a target view', () => {
  it('shows the newer of two variables with the same name, even if the newer is bound first', () => {
    const { source, root, till } = shop();
    const full = till('floor.1.t1');
    for (let i = 0; i < 3000; i++) source.addVariable(full, `v${i}`, { type: 'u64', value: 1n });
    source.addVariable(full, 'sales', { type: 'u64', value: 5n });
    const { view } = testView(source, root, { catalogue: CATALOGUE });
    view.bindMore();
    const late = source.addVariable(full, 'sales', { type: 'u64', value: 6n });
    view.applyChanges([{ kind: 'variable-added', variable: late }]);
    while (view.bindMore());
    runToEnd(view.copyingValues());
    expect(linesOf(runToEnd(view.rendering())))
      .to.contain('} 6\n')
      .and.not.to.contain('} 5\n');
  });

  it('does not wait for removed nodes, even if their removal was not published', () => {
    const { source, root, till } = shop();
    const [left, kept] = [till('floor.1.left', 1), till('floor.1.kept', 2)];
    const { view, lines } = testView(source, root, { catalogue: CATALOGUE });
    const moveOn = ({ slot, incarnation }: { slot: number; incarnation: number }) => {
      source.setSynced({ slot, incarnation: incarnation + 1 }, false);
    };
    for (const item of [left, ...left.variables]) moveOn(item);
    expect(lines().filter(isTillLine)).to.deep.equal(['shop_sales_total{floor="1",till="kept"} 2']);
    expect(view.progress).to.deep.equal(progress([2, 2], [2, 2]));
    expect(view.isSynced).to.equal(true);

    for (const variable of kept.variables) moveOn(variable);
    expect(lines().filter(isTillLine)).to.deep.equal([]);
    expect(view.progress).to.deep.equal(progress([2, 2], [1, 1]));
    // Removing the items afterwards changes nothing.
    source.remove(left);
    for (const variable of kept.variables) source.remove(variable);
    lines();
    expect(view.progress).to.deep.equal(progress([2, 2], [1, 1]));
  });

  it('is not synced while its root is missing', () => {
    const { source, root } = shop();
    const { view, render } = testView(source, root, { catalogue: CATALOGUE });
    render();
    source.setSynced({ slot: root.slot, incarnation: root.incarnation + 1 }, false);
    render();
    expect(view.isSynced).to.equal(false);
    expect(view.progress.reason).to.equal('object h.1.shop');
  });

  it('binds an object with many variables in slices', () => {
    const { source, root } = shop();
    for (let i = 0; i < 3000; i++) source.addVariable(root, `v${i}`, { type: 'u64', value: 1n });
    const { view } = testView(source, root, { catalogue: CATALOGUE });
    const totals: number[] = [];
    while (view.bindMore()) totals.push(view.progress.variables.total);
    expect(totals.length).to.be.at.least(2);
    expect(totals[0]).to.be.at.most(1024);
    runToEnd(view.copyingValues());
    expect(view.progress).to.deep.equal(progress([1, 1], [3001, 3001]));
  });

  it('reports the progress of the first sync, and names an unsynced node (spec 7)', () => {
    const { source, root, tills, till } = shop();
    source.setSynced(tills, false);
    const one = till('floor.1.t1');
    const { view, render } = testView(source, root, { catalogue: CATALOGUE });
    expect(view.progress).to.deep.equal(
      progress([0, 0], [0, 0], 'the rest of its objects, which are being read'),
    );
    expect(view.isSynced).to.equal(false);
    render();
    expect(view.progress).to.deep.equal(progress([2, 2], [0, 2], 'variable tills of h.1.shop'));
    source.setSynced(tills, true);
    source.setSynced(one, false);
    render();
    expect(view.progress).to.deep.equal(progress([1, 2], [1, 2], 'object h.1.shop.floor.1.t1'));
    source.setSynced(one, true);
    for (const sales of one.variables) source.setSynced(sales, true);
    render();
    expect(view.progress).to.deep.equal(progress([2, 2], [2, 2]));
    expect(view.isSynced).to.equal(true);
  });

  it('reports its progress without a walk over its 20,000 variables', () => {
    const { source, root, till } = shop();
    for (let i = 0; i < 100; i++) {
      const full = till(`floor.1.t${i}`, 1);
      for (let j = 0; j < 200; j++)
        source.addVariable(full, `v${j}`, { type: 'u64', value: i < 99 ? 1n : undefined });
    }
    const { view, render } = testView(source, root, { variable: 'tills', catalogue: CATALOGUE });
    render();
    expect(view.progress.variables).to.deep.equal({ synced: 19_901, total: 20_101 });
    const descriptors = Object.entries(Object.getOwnPropertyDescriptors(TargetView.prototype));
    const getters = descriptors.filter(([, descriptor]) => !('value' in descriptor));
    expect(getters).to.have.lengthOf.above(8);
    for (const [name] of getters)
      expect(
        iterationSteps(() => void Reflect.get(view, name)),
        name,
      ).to.be.below(100);
  });

  it('shows an object that is added after the first sync once its variables have values', () => {
    const { source, root, till } = shop();
    const { view, lines } = testView(source, root, { catalogue: CATALOGUE });
    lines();
    const late = till('floor.1.t1');
    expect(lines().filter(isTillLine)).to.deep.equal([]);
    expect(view.progress).to.deep.equal(
      progress([2, 2], [1, 2], 'variable sales of h.1.shop.floor.1.t1'),
    );
    for (const sales of late.variables) source.setSynced(sales, true);
    expect(lines().filter(isTillLine)).to.deep.equal(['shop_sales_total{floor="1",till="t1"} 0']);
    expect(view.isSynced).to.equal(true);
  });

  it('omits the series of a removed object and of its descendants from the next text', () => {
    const { source, root, till } = shop();
    const floor = source.addObject('h.1.shop.floor.1', 'Floor', { parent: root });
    till('floor.1.t1', 5, floor);
    till('floor.1.t2', 6, floor);
    till('floor.2.t1', 7);
    const { view, lines } = testView(source, root, { catalogue: CATALOGUE });
    expect(lines().filter(isTillLine)).to.have.lengthOf(3);
    source.remove(floor);
    expect(lines().filter(isTillLine)).to.deep.equal(['shop_sales_total{floor="2",till="t1"} 7']);
    expect(view.progress).to.deep.equal(progress([2, 2], [2, 2]));
  });

  it('shows only the new object when a slot is reused at once', () => {
    const { source, root, till } = shop();
    const former = till('floor.1.t1', 5);
    const { lines } = testView(source, root, { catalogue: CATALOGUE });
    lines();
    for (let i = 2; i < 30; i++) {
      source.remove(i === 2 ? former : ([...root.children].at(-1) as FakeObject));
      till(`floor.1.t${i}`, i);
      expect(lines().filter(isTillLine)).to.deep.equal([
        `shop_sales_total{floor="1",till="t${i}"} ${i}`,
      ]);
    }
  });

  it('shows the state of an object, even if the previous owner of its slot had the same bits in it', () => {
    const catalogue = shopCatalogue(
      '{ name = "shop_open", type = "gauge", help = "Open.", var = "open" },',
      '{ name = "shop_till_state", type = "stateset", help = "State.", var = "@state" },',
    );
    const { source, root, till } = shop();
    const tillsIn = (state: ObjectState) =>
      Array.from({ length: 10 }, (_, i) => {
        const each = till(`floor.1.${state}${i}`);
        source.setState(each, state);
        return each;
      });
    const dead = tillsIn('dead');
    const { view, lines, render } = testView(source, root, { catalogue });
    render();
    for (const each of dead) source.remove(each);
    render();
    const slots = new Set(dead.map(({ slot }) => slot));
    const reusing = tillsIn('normal').filter(({ slot }) => slots.has(slot));
    expect(reusing, 'objects in slots of dead objects').to.have.lengthOf.above(4);
    // Between two scrapes, the objects are bound and their first values copied.
    view.applyChanges(source.readChanges().changes);
    while (view.bindMore());
    for (const each of reusing) source.setState(each, 'dead');
    expect(lines().filter((line) => line.endsWith('="dead"} 1'))).to.have.lengthOf(reusing.length);
  });

  it('ignores changes that it has already applied', () => {
    const { source, root, till } = shop();
    const one = till('floor.1.t1', 5);
    const { view, lines } = testView(source, root, { catalogue: CATALOGUE });
    const before = lines();
    const [sales] = one.variables;
    if (sales === undefined) throw new Error('No sales');
    view.applyChanges([
      { kind: 'object-added', object: one },
      { kind: 'variable-added', variable: sales },
      { kind: 'object-added', object: root },
    ]);
    expect(lines()).to.deep.equal(before);
    expect(view.progress).to.deep.equal(progress([2, 2], [2, 2]));
    view.applyChanges([
      { kind: 'object-removed', object: one },
      { kind: 'object-removed', object: one },
      { kind: 'variable-removed', variable: sales },
    ]);
    expect(view.progress).to.deep.equal(progress([1, 1], [1, 1]));
    expect(lines().filter(isTillLine)).to.deep.equal([]);
  });

  it('binds a large subtree in parts, and binds an object that is added meanwhile only once', () => {
    const { source, root, till } = shop();
    for (let i = 0; i < 6000; i++) till(`floor.1.t${i}`, i);
    const { view, lines } = testView(source, root, { catalogue: CATALOGUE });
    expect(view.bindMore()).to.equal(true);
    source.readChanges();
    till('floor.2.t1', 1);
    const gone = till('floor.2.t2', 1);
    view.applyChanges(source.readChanges().changes);
    source.remove(gone);
    expect(lines().filter(isTillLine)).to.have.lengthOf(6001);
    expect(view.progress).to.deep.equal(progress([6002, 6002], [6002, 6002]));
  });

  it('does not track an object that is removed before it is bound', () => {
    const { source, root, till } = shop();
    const floor = source.addObject('h.1.shop.floor.1', 'Floor', { parent: root });
    for (let i = 0; i < 5000; i++) till(`floor.1.t${i}`, i, floor);
    const last = till('floor.2.t1', 1);
    const { view, lines } = testView(source, root, { catalogue: CATALOGUE });
    view.bindMore();
    source.remove(floor);
    source.remove(last);
    expect(lines().filter(isTillLine)).to.deep.equal([]);
    expect(view.progress).to.deep.equal(progress([1, 1], [1, 1]));
  });

  it('shows no series after its root is removed', () => {
    const { source, root, till } = shop();
    till('floor.1.t1', 5);
    const { view, lines } = testView(source, root, { catalogue: CATALOGUE });
    lines();
    source.remove(root);
    expect(lines()).to.deep.equal([]);
    expect(view.progress).to.deep.equal(progress([0, 0], [0, 0]));
  });

  it('ignores objects below a second root', () => {
    const { source, root, till } = shop();
    const other = source.addObject('h.1.shop.2.shop', 'Shop');
    const { lines } = testView(source, root, { catalogue: CATALOGUE });
    const before = lines();
    till('2.shop.floor.1.t1', 5, other);
    expect(lines()).to.deep.equal(before);
  });

  describe('with', () => {
    const filters = [
      ['no filter', {}, 3, 9],
      ['a class of two objects', { classes: ['till'] }, 2, 2],
      ['a group of paths', { seedPathGroups: ['floors'] }, 2, 2],
      ['the path @root', { seedPaths: ['@root'] }, 1, 7],
      ['a path', { seedPaths: ['floor.2'] }, 1, 1],
      [
        'a class and a path to an object of a different class',
        { classes: ['shop'], seedPaths: ['floor.2'] },
        0,
        0,
      ],
      ['the class of the root', { classes: ['shop'] }, 1, 7],
    ] as const;
    for (const [what, filter, objects, series] of filters)
      it(`${what} tracks ${pluralize(objects, 'object')}`, () => {
        const { source, root, till } = shop();
        till('floor.1.t1', 1);
        till('floor.2.t2', 2);
        const { view, lines } = testView(source, root, { catalogue: CATALOGUE, filters: filter });
        expect(lines()).to.have.lengthOf(series);
        expect(view.progress.objects).to.deep.equal({ synced: objects, total: objects });
        expect(view.isSynced).to.equal(true);
      });
  });

  it('shows the first of two objects with the same series, and the second once the first is removed', () => {
    const { source, root } = shop();
    const twin = (sales: number) => {
      const till = source.addObject('h.1.shop.floor.1.t1', 'Till', { parent: root });
      source.addVariable(till, 'sales', { type: 'u64', value: sales });
      return till;
    };
    const { view, lines, clashes } = testView(source, root, { catalogue: CATALOGUE });
    lines();
    const first = twin(1);
    lines();
    twin(2);
    const series = 'shop_sales_total{floor="1",till="t1"}';
    expect(lines().filter(isTillLine)).to.deep.equal([`${series} 1`]);
    expect([view.counters.clashes, clashes]).to.deep.equal([1, [series]]);
    source.remove(first);
    expect(lines().filter(isTillLine)).to.deep.equal([`${series} 2`]);
  });

  it('reports the timestamp of the values if its root has a timestamp', () => {
    const source = new FakeSource();
    const asOf = { slot: 700, incarnation: 3 };
    source.setSlot(asOf, 1_700_000_000_000_000_000n);
    const root = source.addObject('h.1.shop', 'Shop', { asOf });
    const { view, render } = testView(source, root);
    render();
    expect(view.asOfNs).to.equal(1_700_000_000_000_000_000n);
    source.setSlot({ ...asOf, incarnation: 4 }, 1n);
    render();
    expect(view.asOfNs).to.equal(undefined);
  });

  it('reports at a refresh whether its text is outdated', () => {
    const { source, root, tills, till } = shop();
    const { view, render } = testView(source, root, { catalogue: CATALOGUE });
    render();
    expect(runToEnd(view.copyingValues())).to.equal(false);
    source.set(tills, 3);
    expect(runToEnd(view.copyingValues())).to.equal(true);
    expect(runToEnd(view.copyingValues())).to.equal(true);
    runToEnd(view.rendering());
    expect(runToEnd(view.copyingValues())).to.equal(false);
    till('floor.1.t1', 1);
    view.applyChanges(source.readChanges().changes);
    expect(runToEnd(view.copyingValues())).to.equal(true);
  });

  it('frees its memory when it is closed, but a held text only when the last hold is released', () => {
    const kernel = new Kernel();
    const before = kernel.arena.used;
    const { source, root, till } = shop();
    for (let i = 0; i < 3000; i++) till(`floor.1.t${i}`, i);
    const { view, render, text } = testView(source, root, { catalogue: CATALOGUE, kernel });
    const snapshot = render();
    const bytes = () => linesOf(snapshot);
    const release = snapshot.hold();
    const held = bytes();
    for (let i = 0; i < 3000; i += 2) till(`floor.2.t${i}`, i);
    text();
    runToEnd(view.closing());
    runToEnd(view.closing());
    expect(bytes()).to.equal(held);
    release();
    release();
    expect(kernel.arena.used).to.equal(before);
  });

  it('states no time of its values once it is closed', () => {
    const source = new FakeSource();
    const asOf = { slot: 700, incarnation: 1 };
    const root = source.addObject('h.1.shop', 'Shop', { asOf });
    const { view, kernel, render } = testView(source, root, { catalogue: CATALOGUE });
    render();
    runToEnd(view.closing());
    expect(view.asOfNs).to.equal(undefined);
    expect(kernel.arena.used).to.equal(0);
  });

  it('refuses to hold a text that a render has replaced, so that no memory is freed twice', () => {
    const { source, root, tills } = shop();
    const { kernel, render } = testView(source, root, { catalogue: CATALOGUE });
    const ended = render();
    source.set(tills, 3);
    render();
    const used = kernel.arena.used;
    expect(() => ended.hold()).to.throw(
      'The text was freed: hold a snapshot before the next render',
    );
    expect(kernel.arena.used).to.equal(used);
    render().hold()();
    expect(kernel.arena.used).to.equal(used);
  });
});
