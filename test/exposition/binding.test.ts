// Trees that change while a target view binds them in small slices of work.
import { expect } from 'chai';
import fc from 'fast-check';
import type { ManagedObject } from '#app/model.js';
import { FakeSource } from '../support/fake-source.js';
import type { FakeObject } from '../support/fake-source.js';
import { PATH, ROOT, RandomTree, changeTree } from '../support/random-tree.js';
import type { TreeStep } from '../support/random-tree.js';
import { testView } from './test-view.js';
import { runToEnd } from '#app/run-to-end.js';

type Step = readonly [
  action: TreeStep[0] | 'absorb' | 'bind' | 'refresh' | 'render',
  pick: number,
  isSynced: boolean,
];

const someSteps: fc.Arbitrary<Step[]> = fc.array(
  fc.tuple(
    fc.constantFrom<Step[0]>(
      ...(['add', 'add', 'add', 'variable', 'variable', 'remove', 'remove', 'drop'] as const),
      ...(['store', 'store', 'absorb', 'absorb', 'bind', 'bind', 'bind'] as const),
      ...(['refresh', 'render', 'render'] as const),
    ),
    fc.nat(200),
    fc.boolean(),
  ),
  { minLength: 20, maxLength: 200, size: 'max' },
);

describe('a view of a changing tree', () => {
  const cases = [
    { filters: {}, tracks: () => true, listens: true },
    {
      filters: { classes: ['Till'] },
      tracks: ({ className }: ManagedObject) => className === 'Till',
      listens: false,
    },
  ];
  for (const { filters, tracks, listens } of cases)
    it(`shows the same series after a bind in slices as after a bind without slices${'classes' in filters ? ' (class filter)' : ''}`, () => {
      let early = 0;
      fc.assert(
        fc.property(
          someSteps,
          fc.nat(100),
          fc.array(fc.integer({ min: 1, max: 16 }), { minLength: 1, maxLength: 20 }),
          (steps, start, slices) => {
            const tree = new RandomTree();
            steps.slice(0, start).forEach((step) => changeTree(tree, step));
            let number = 0;
            const bindLimits = () => ({ steps: slices[number++ % slices.length] ?? 1 });
            const options = { filters, variable: PATH, bindLimits };
            const { view, linesOf, text } = testView(tree.source, tree.root, options);
            let goesOn = true;
            if (listens) view.onMoreToBind(() => (goesOn = true));
            tree.source.readChanges();
            for (const step of steps.slice(start)) {
              changeTree(tree, step);
              const [action] = step;
              if (action === 'absorb') view.applyChanges(tree.source.readChanges().changes);
              if (action === 'bind' && goesOn) goesOn = view.bindMore();
              if (action === 'refresh') runToEnd(view.copyingValues());
              if (action !== 'render') continue;
              view.applyChanges(tree.source.readChanges().changes);
              runToEnd(view.copyingValues());
              const shown = linesOf(runToEnd(view.rendering()));
              if (tree.lines(tracks).length > shown.length) early++;
              expect(tree.mayShow).to.include.members(shown);
            }
            view.applyChanges(tree.source.readChanges().changes);
            runToEnd(view.copyingValues());
            while (goesOn) goesOn = view.bindMore();
            runToEnd(view.copyingValues());
            while (goesOn) goesOn = view.bindMore();
            expect(linesOf(runToEnd(view.rendering())).toSorted()).to.deep.equal(
              tree.lines(tracks).toSorted(),
            );
            const { objects, variables, reason } = view.progress;
            const counts = tree.counts(tracks);
            expect([objects.total, variables.total, variables.synced]).to.deep.equal([
              counts.objects,
              counts.variables,
              counts.valued,
            ]);
            expect(view.isSynced).to.equal(reason === '');
            expect(view.highlighted?.value).to.equal(tree.named);
            const whole = testView(tree.source, tree.root, { filters });
            expect(text()).to.equal(whole.text());
            runToEnd(whole.view.closing());
            runToEnd(view.closing());
          },
        ),
        { numRuns: 100, endOnFailure: true },
      );
      expect(early, 'renders before all was taken in').to.be.above(0);
    });

  /** A shop with this number of child objects, each with one variable. */
  const wide = (objects: number) => {
    const source = new FakeSource();
    const root = source.addObject(ROOT, 'Shop');
    const add = (parent: FakeObject, i: number) => {
      const object = source.addObject(`${ROOT}.o${i}`, 'Till', { parent });
      source.addVariable(object, 'a', { type: 'u64', value: 1n });
      return object;
    };
    const children = Array.from({ length: objects }, (_, i) => add(root, i));
    return { source, root, add, children };
  };

  it('drops an object and its variables once their slots belong to a new object', () => {
    const source = new FakeSource();
    const root = source.addObject(ROOT, 'Shop');
    const till = source.addObject(`${ROOT}.till`, 'Till', { parent: root });
    const sales = source.addVariable(till, 'sales', { type: 'u64', value: 7n });
    for (let i = 0; i < 200; i++) source.addObject(`${ROOT}.o${i}`, 'Till', { parent: root });
    source.readChanges();
    let steps = 20;
    const { view, linesOf } = testView(source, root, { bindLimits: () => ({ steps }) });
    const shown = () => {
      runToEnd(view.copyingValues());
      return linesOf(runToEnd(view.rendering()));
    };
    while (view.series === 0) view.bindMore();
    source.remove(sales);
    source.remove(till);
    const next = source.addObject(`${ROOT}.next`, 'Till', { parent: root, slot: till.slot });
    source.addVariable(next, 'later', { type: 'u64', value: 99n, slot: sales.slot });
    // The view finishes binding the tree before it gets these changes.
    const { changes } = source.readChanges();
    steps = 1000;
    while (view.bindMore());
    const line = 'shop_till_later{object="next"} 99';
    expect(shown()).to.deep.equal([line]);
    view.applyChanges(changes);
    while (view.bindMore());
    expect(shown()).to.deep.equal([line]);
    expect(view.counts.variables).to.deep.equal({ synced: 1, total: 1 });
  });

  it('binds objects without a refresh if they are added one by one', () => {
    const { source, root, add } = wide(1);
    const { view } = testView(source, root);
    while (view.bindMore());
    source.readChanges();
    let [wakes, handled] = [0, 0];
    view.onMoreToBind(() => wakes++);
    for (let i = 1; i <= 100; i++) {
      add(root, i);
      view.applyChanges(source.readChanges().changes);
      if (wakes > handled) while (view.bindMore());
      handled = wakes;
    }
    expect(view.progress.objects.total).to.equal(102);
    expect(view.series, 'all but a few').to.be.above(90);
  });

  it('applies all earlier additions and removals at a refresh, slice by slice', () => {
    const { source, root, add, children } = wide(20_000);
    const { view, linesOf, render } = testView(source, root);
    expect(linesOf(render())).to.have.lengthOf(20_000);
    view.onMoreToBind(() => undefined);
    for (const child of children.slice(0, 10_000)) source.remove(child);
    for (let i = 0; i < 5000; i++) add(root, 30_000 + i);
    view.applyChanges(source.readChanges().changes);
    expect([...view.copyingValues()].length, 'slices').to.be.above(20);
    expect(linesOf(runToEnd(view.rendering()))).to.have.lengthOf(15_000);
    for (const child of children.slice(10_000, 19_000)) source.remove(child);
    view.applyChanges(source.readChanges().changes);
    expect(linesOf(runToEnd(view.rendering())), 'without what is gone').to.have.lengthOf(6000);
  });

  it('queues at most 262,144 changes', () => {
    const { source, root, add } = wide(0);
    const { view } = testView(source, root, { bindLimits: () => ({ steps: 100 }) });
    view.onMoreToBind(() => undefined);
    view.bindMore();
    source.readChanges();
    for (let i = 0; i < 140_000; i++) add(root, i);
    view.applyChanges(source.readChanges().changes);
    const { objects, variables } = view.progress;
    expect(objects.total + variables.total).to.be.at.least(280_000 - 262_144);
  });
});
