// A target from its first sync on: what it tracks, what it waits for, and what it shows.
import { expect } from 'chai';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { FakeSource } from '../support/fake-source.js';
import type { FakeObject } from '../support/fake-source.js';
import { shopCatalogue, watched } from './watched.js';
import { finished } from '../support/finished.js';

const CATALOGUE = shopCatalogue(
  `{ name = "shop_tills", type = "gauge", help = "Tills.", var = "tills" },
   { name = "shop_state", type = "stateset", help = "State.", var = "@state" },`,
  `{ name = "shop_sales_total", type = "counter", help = "Sales.", var = "sales" },`,
);

/** A shop with its tills variable, and tills on demand. */
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
  it('a later variable of a name counts, though it was bound before the earlier one', () => {
    const { source, root, till } = shop();
    const full = till('floor.1.t1');
    for (let i = 0; i < 3000; i++) source.addVariable(full, `v${i}`, { type: 'u64', value: 1n });
    source.addVariable(full, 'sales', { type: 'u64', value: 5n });
    const { view } = watched(source, root, { catalogue: CATALOGUE });
    view.bindMore();
    const late = source.addVariable(full, 'sales', { type: 'u64', value: 6n });
    view.absorb([{ kind: 'variable-added', variable: late }]);
    while (view.bindMore());
    finished(view.refreshing());
    const text = finished(view.rendering()).families.flatMap(({ pieces }) =>
      pieces.map((each) => Buffer.from(each).toString()),
    );
    expect(text.join('')).to.contain('} 6\n').and.not.to.contain('} 5\n');
  });

  it('waits for nothing that was removed, though no removal was published', () => {
    const { source, root, till } = shop();
    const [left, kept] = [till('floor.1.left', 1), till('floor.1.kept', 2)];
    const { view, lines } = watched(source, root, { catalogue: CATALOGUE });
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
    // The removals come in the end, and change nothing.
    source.remove(left);
    for (const variable of kept.variables) source.remove(variable);
    lines();
    expect(view.progress).to.deep.equal(progress([2, 2], [1, 1]));
  });

  it('waits for a root that is gone: without it there is nothing to show', () => {
    const { source, root } = shop();
    const { view, render } = watched(source, root, { catalogue: CATALOGUE });
    render();
    source.setSynced({ slot: root.slot, incarnation: root.incarnation + 1 }, false);
    render();
    expect(view.isSynced).to.equal(false);
    expect(view.progress.reason).to.equal('object h.1.shop');
  });

  it('binds an object with many variables in slices, too', () => {
    const { source, root } = shop();
    for (let i = 0; i < 3000; i++) source.addVariable(root, `v${i}`, { type: 'u64', value: 1n });
    const { view } = watched(source, root, { catalogue: CATALOGUE });
    const totals: number[] = [];
    while (view.bindMore()) totals.push(view.progress.variables.total);
    expect(totals.length).to.be.at.least(2);
    expect(totals[0]).to.be.at.most(1024);
    finished(view.refreshing());
    expect(view.progress).to.deep.equal(progress([1, 1], [3001, 3001]));
  });

  it('says how far the first sync is, and what it waits for (spec 7)', () => {
    const { source, root, tills, till } = shop();
    source.setSynced(tills, false);
    const one = till('floor.1.t1');
    const { view, render } = watched(source, root, { catalogue: CATALOGUE });
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

  it('late objects and variables are added, once their own values are there', () => {
    const { source, root, till } = shop();
    const { view, lines } = watched(source, root, { catalogue: CATALOGUE });
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

  it('the series of a removed object are gone from the next text, with what is below it', () => {
    const { source, root, till } = shop();
    const floor = source.addObject('h.1.shop.floor.1', 'Floor', { parent: root });
    till('floor.1.t1', 5, floor);
    till('floor.1.t2', 6, floor);
    till('floor.2.t1', 7);
    const { view, lines } = watched(source, root, { catalogue: CATALOGUE });
    expect(lines().filter(isTillLine)).to.have.lengthOf(3);
    source.remove(floor);
    expect(lines().filter(isTillLine)).to.deep.equal(['shop_sales_total{floor="2",till="t1"} 7']);
    expect(view.progress).to.deep.equal(progress([2, 2], [2, 2]));
  });

  it('a slot that goes to another object at once shows the new one alone', () => {
    const { source, root, till } = shop();
    const former = till('floor.1.t1', 5);
    const { lines } = watched(source, root, { catalogue: CATALOGUE });
    lines();
    for (let i = 2; i < 30; i++) {
      source.remove(i === 2 ? former : ([...root.children].at(-1) as FakeObject));
      till(`floor.1.t${i}`, i);
      expect(lines().filter(isTillLine)).to.deep.equal([
        `shop_sales_total{floor="1",till="t${i}"} ${i}`,
      ]);
    }
  });

  it('changes that are told again do no harm', () => {
    const { source, root, till } = shop();
    const one = till('floor.1.t1', 5);
    const { view, lines } = watched(source, root, { catalogue: CATALOGUE });
    const before = lines();
    const [sales] = one.variables;
    if (sales === undefined) throw new Error('No sales');
    view.absorb([
      { kind: 'object-added', object: one },
      { kind: 'variable-added', variable: sales },
      { kind: 'object-added', object: root },
    ]);
    expect(lines()).to.deep.equal(before);
    expect(view.progress).to.deep.equal(progress([2, 2], [2, 2]));
    view.absorb([
      { kind: 'object-removed', object: one },
      { kind: 'object-removed', object: one },
      { kind: 'variable-removed', variable: sales },
    ]);
    expect(view.progress).to.deep.equal(progress([1, 1], [1, 1]));
    expect(lines().filter(isTillLine)).to.deep.equal([]);
  });

  it('a large subtree is bound in parts, and what comes meanwhile comes once', () => {
    const { source, root, till } = shop();
    for (let i = 0; i < 6000; i++) till(`floor.1.t${i}`, i);
    const { view, lines } = watched(source, root, { catalogue: CATALOGUE });
    expect(view.bindMore()).to.equal(true);
    source.sync();
    till('floor.2.t1', 1);
    const gone = till('floor.2.t2', 1);
    view.absorb(source.sync().changes);
    source.remove(gone);
    expect(lines().filter(isTillLine)).to.have.lengthOf(6001);
    expect(view.progress).to.deep.equal(progress([6002, 6002], [6002, 6002]));
  });

  it('an object that is removed before it is bound is never tracked', () => {
    const { source, root, till } = shop();
    const floor = source.addObject('h.1.shop.floor.1', 'Floor', { parent: root });
    for (let i = 0; i < 5000; i++) till(`floor.1.t${i}`, i, floor);
    const last = till('floor.2.t1', 1);
    const { view, lines } = watched(source, root, { catalogue: CATALOGUE });
    view.bindMore();
    source.remove(floor);
    source.remove(last);
    expect(lines().filter(isTillLine)).to.deep.equal([]);
    expect(view.progress).to.deep.equal(progress([1, 1], [1, 1]));
  });

  it('a root that goes leaves nothing', () => {
    const { source, root, till } = shop();
    till('floor.1.t1', 5);
    const { view, lines } = watched(source, root, { catalogue: CATALOGUE });
    lines();
    source.remove(root);
    expect(lines()).to.deep.equal([]);
    expect(view.progress).to.deep.equal(progress([0, 0], [0, 0]));
  });

  it('another root is none of its business', () => {
    const { source, root, till } = shop();
    const other = source.addObject('h.1.shop.2.shop', 'Shop');
    const { lines } = watched(source, root, { catalogue: CATALOGUE });
    const before = lines();
    till('2.shop.floor.1.t1', 5, other);
    expect(lines()).to.deep.equal(before);
  });

  describe('with filters', () => {
    const filters = [
      [{}, 3, 9],
      [{ classes: ['till'] }, 2, 2],
      [{ seedPathGroups: ['floors'] }, 2, 2],
      [{ seedPaths: ['@root'] }, 1, 7],
      [{ seedPaths: ['floor.2'] }, 1, 1],
      [{ classes: ['shop'], seedPaths: ['floor.2'] }, 0, 0],
      [{ classes: ['shop'] }, 1, 7],
    ] as const;
    for (const [filter, objects, series] of filters)
      it(`${JSON.stringify(filter)} tracks ${objects} objects`, () => {
        const { source, root, till } = shop();
        till('floor.1.t1', 1);
        till('floor.2.t2', 2);
        const { view, lines } = watched(source, root, { catalogue: CATALOGUE, filters: filter });
        expect(lines()).to.have.lengthOf(series);
        expect(view.progress.objects).to.deep.equal({ synced: objects, total: objects });
        expect(view.isSynced).to.equal(true);
      });
  });

  it('two objects with one series: the first stays, the second comes when it goes', () => {
    const { source, root } = shop();
    const twin = (sales: number) => {
      const till = source.addObject('h.1.shop.floor.1.t1', 'Till', { parent: root });
      source.addVariable(till, 'sales', { type: 'u64', value: sales });
      return till;
    };
    const { view, lines, clashes } = watched(source, root, { catalogue: CATALOGUE });
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

  it('knows the moment that the values of its root stand for, where it is stated', () => {
    const source = new FakeSource();
    const asOf = { slot: 700, incarnation: 3 };
    source.setSlot(asOf, 1_700_000_000_000_000_000n);
    const root = source.addObject('h.1.shop', 'Shop', { asOf });
    const { view, render } = watched(source, root);
    render();
    expect(view.asOfNs).to.equal(1_700_000_000_000_000_000n);
    source.setSlot({ ...asOf, incarnation: 4 }, 1n);
    render();
    expect(view.asOfNs).to.equal(undefined);
  });

  it('refresh says whether the text would differ', () => {
    const { source, root, tills, till } = shop();
    const { view, render } = watched(source, root, { catalogue: CATALOGUE });
    render();
    expect(finished(view.refreshing())).to.equal(false);
    source.set(tills, 3);
    expect(finished(view.refreshing())).to.equal(true);
    expect(finished(view.refreshing())).to.equal(true);
    finished(view.rendering());
    expect(finished(view.refreshing())).to.equal(false);
    till('floor.1.t1', 1);
    view.absorb(source.sync().changes);
    expect(finished(view.refreshing())).to.equal(true);
  });

  it('gives all its memory back when it is closed, and what is held when that ends', () => {
    const kernel = new Kernel();
    const before = kernel.arena.used;
    const { source, root, till } = shop();
    for (let i = 0; i < 3000; i++) till(`floor.1.t${i}`, i);
    const { view, render, text } = watched(source, root, { catalogue: CATALOGUE, kernel });
    const snapshot = render();
    const bytes = () => Buffer.concat(snapshot.families.flatMap(({ pieces }) => pieces)).toString();
    const release = snapshot.hold();
    const held = bytes();
    for (let i = 0; i < 3000; i += 2) till(`floor.2.t${i}`, i);
    text();
    finished(view.closing());
    finished(view.closing());
    expect(bytes()).to.equal(held);
    release();
    release();
    expect(kernel.arena.used).to.equal(before);
    expect(finished(view.refreshing())).to.equal(false);
  });

  it('takes nothing in any more once it is closed', () => {
    const source = new FakeSource();
    const asOf = { slot: 700, incarnation: 1 };
    const root = source.addObject('h.1.shop', 'Shop', { asOf });
    const { view, kernel, render } = watched(source, root, { catalogue: CATALOGUE });
    render();
    finished(view.closing());
    source.addObject('h.1.shop.floor.1.t1', 'Till', { parent: root });
    view.absorb(source.sync().changes);
    expect(view.bindMore()).to.equal(false);
    expect(view.asOfNs).to.equal(undefined);
    expect(kernel.arena.used).to.equal(0);
  });

  it('a text that ended cannot be held any more, so nothing is given back twice', () => {
    const { source, root, tills } = shop();
    const { kernel, render } = watched(source, root, { catalogue: CATALOGUE });
    const ended = render();
    source.set(tills, 3);
    render();
    const used = kernel.arena.used;
    expect(() => ended.hold()).to.throw('The text is gone: hold it before the next render');
    expect(kernel.arena.used).to.equal(used);
    render().hold()();
    expect(kernel.arena.used).to.equal(used);
  });
});
