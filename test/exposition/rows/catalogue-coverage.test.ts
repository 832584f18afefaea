// The counts of catalogue rows without a variable, rows of the wrong type, and variables without a row.
import fc from 'fast-check';
import { expect } from 'chai';
import type { ValueType, Variable } from '#app/model.js';
import type { TargetView } from '#app/exposition/target-view.js';
import { FakeSource } from '../../support/fake-source.js';
import type { FakeObject } from '../../support/fake-source.js';
import { shopCatalogue, testView } from '../test-view.js';

const row = (name: string, type: string, rest: string): string =>
  `{ name = "shop_${name}", type = "${type}", help = "Help.", ${rest} },`;

const countsOf = ({ coverage }: TargetView) => ({
  unmatched: coverage.rowsWithoutVariable,
  mistyped: coverage.rowsOfWrongType,
  unread: coverage.variablesWithoutRow,
});
const FITS = { unmatched: 0, mistyped: 0, unread: 0 };

describe('the coverage of a catalogue by a tree', () => {
  const setUp = (rows: string, tillRows = '') => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    return {
      source,
      root,
      ...testView(source, root, { catalogue: shopCatalogue(rows, tillRows) }),
    };
  };

  it('is complete when each row finds its variables and each variable has a row', () => {
    const { source, root, view, render } = setUp(
      row('x', 'gauge', 'var = "x"') +
        row('s', 'summary', 'sum_var = "a", count_var = "b"') +
        row('p', 'gauge', 'var = "p.{port}"') +
        row('state', 'stateset', 'var = "@state"'),
      row('till', 'gauge', 'var = "absent, and the tree has no till"'),
    );
    for (const name of ['x', 'a', 'b', 'p.1', 'p.2'])
      source.addVariable(root, name, { type: 'u64' });
    render();
    expect(countsOf(view)).to.deep.equal(FITS);
    source.remove(root);
    render();
    expect(countsOf(view)).to.deep.equal(FITS);
  });

  it('counts every row of the root as unmatched until the tree has an object whose class is in the catalogue', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Renamed');
    const catalogue = shopCatalogue(
      row('x', 'gauge', 'var = "x"') + row('state', 'stateset', 'var = "@state"'),
      row('till', 'gauge', 'var = "y"'),
    );
    const { view, render } = testView(source, root, { catalogue });
    render();
    expect(countsOf(view)).to.deep.equal({ ...FITS, unmatched: 2 });
    const till = source.addObject('h.1.shop.floor.1.2', 'Till', { parent: root });
    source.addVariable(till, 'y', { type: 'u64' });
    render();
    expect(countsOf(view)).to.deep.equal(FITS);
    source.remove(till);
    render();
    expect(countsOf(view)).to.deep.equal(FITS);
  });

  it('counts a row as mistyped while one of its variables has a type that the row does not read', () => {
    const { source, root, view, render } = setUp(row('p', 'gauge', 'var = "p.{port}"'));
    const [first, second] = ['p.1', 'p.2'].map((name) =>
      source.addVariable(root, name, { type: 'string' }),
    );
    const rowsLeft = (gone: Variable | undefined): number => {
      if (gone !== undefined) source.remove(gone);
      render();
      return view.coverage.rowsOfWrongType;
    };
    expect([undefined, first, second].map(rowsLeft)).to.deep.equal([1, 1, 0]);
  });

  it('counts a variable without a row once per object', () => {
    const { source, root, view, render } = setUp('', row('x', 'gauge', 'var = "x"'));
    const floor = source.addObject('h.1.shop.floor', 'Floor', { parent: root });
    const tills = ['1', '2', '3'].map((number) => {
      const till = source.addObject(`h.1.shop.floor.1.${number}`, 'Till', { parent: floor });
      source.addVariable(till, 'y', { type: 'u64' });
      return till;
    });
    const counts = tills.map((till) => {
      render();
      const counted = view.coverage.variablesWithoutRow;
      source.remove(till);
      return counted;
    });
    render();
    expect([...counts, view.coverage.variablesWithoutRow]).to.deep.equal([3, 2, 1, 0]);
  });

  it('counts a row with a misspelt variable as unmatched until a variable with this name is added', () => {
    const { source, root, view, render } = setUp(row('card', 'gauge', 'var = "crad"'));
    source.addVariable(root, 'card', { type: 'u64', value: 1 });
    render();
    expect(countsOf(view)).to.deep.equal({ ...FITS, unmatched: 1, unread: 1 });
    const late = source.addVariable(root, 'crad', { type: 'u64' });
    render();
    expect(countsOf(view)).to.deep.equal({ ...FITS, unread: 1 });
    source.remove(late);
    render();
    expect(countsOf(view)).to.deep.equal({ ...FITS, unmatched: 1, unread: 1 });
  });

  it('counts a row as unmatched if one of its variables is missing', () => {
    const { source, root, view, render } = setUp(
      row('s', 'summary', 'sum_var = "sum", count_var = "cuont"') +
        row('b_info', 'info', 'labels_from = { v = "version", r = "release" }'),
    );
    for (const name of ['sum', 'version']) source.addVariable(root, name, { type: 'u64' });
    render();
    expect(countsOf(view)).to.deep.equal({ ...FITS, unmatched: 2 });
  });

  const types: readonly (readonly [string, string, Variable['type'], boolean])[] = [
    ['a histogram row', row('x', 'histogram', 'var = "v"'), 'i64', false],
    ['a histogram row', row('x', 'histogram', 'var = "v"'), 'summary', false],
    ['a histogram row', row('x', 'histogram', 'var = "v"'), 'histogram', true],
    ['a summary row', row('x', 'summary', 'var = "v"'), 'summary', true],
    ['a gauge row', row('x', 'gauge', 'var = "v"'), 'string', false],
    ['a gauge row', row('x', 'gauge', 'var = "v"'), 'bool', true],
    [
      'an observed histogram row',
      row('x', 'histogram', 'var = "v", observe = true, buckets = [1]'),
      'string',
      false,
    ],
    [
      'an observed summary row',
      row('x', 'summary', 'var = "v", observe = true, quantiles = [1]'),
      'f64',
      true,
    ],
    [
      'a row of a sum and a count',
      row('x', 'summary', 'sum_var = "v", count_var = "v2"'),
      'histogram',
      false,
    ],
    ['an info row', row('x_info', 'info', 'labels_from = { v = "v" }'), 'histogram', false],
    ['an info row', row('x_info', 'info', 'labels_from = { v = "v" }'), 'f64', true],
    ['a timestamp row', row('x', 'gauge', 'var = "v", conv = "timestamp"'), 'summary', false],
    ['a stateset row', row('x', 'stateset', 'var = "v", states = ["0"]'), 'u64', true],
  ];
  for (const [what, rows, type, isFit] of types)
    it(`${isFit ? 'accepts' : 'reports'} a variable of type ${type} for ${what}`, () => {
      const { source, root, view, render } = setUp(rows);
      const variable = source.addVariable(root, 'v', { type });
      source.addVariable(root, 'v2', { type: 'u64' });
      render();
      expect(view.coverage.rowsOfWrongType).to.equal(Number(!isFit));
      source.remove(variable);
      render();
      expect(view.coverage.rowsOfWrongType).to.equal(0);
    });

  it('counts nothing for a class without objects or a target without a catalogue', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    const tillRow = row('x', 'gauge', 'var = "w"');
    source.addVariable(root, 'open', { type: 'u64', value: 1 });
    for (const catalogue of [
      shopCatalogue(row('open', 'gauge', 'var = "open"'), tillRow),
      undefined,
    ]) {
      const other = source.addObject('h.1.shop.lamp', 'Other', { parent: root });
      const variable = source.addVariable(other, 'v', { type: 'u64', value: 1 });
      const { view, render } = testView(source, root, { catalogue });
      render();
      expect(countsOf(view)).to.deep.equal(FITS);
      source.remove(variable);
      render();
      expect(countsOf(view)).to.deep.equal(FITS);
    }
  });

  describe('counts the rows for a child object as unmatched', () => {
    const drawer = 'at = "drawer", class_id = "Drawer"';
    const rows =
      row('x', 'gauge', 'var = "x"') +
      row('coins', 'gauge', `var = "coins", ${drawer}`) +
      row('notes', 'gauge', `var = "notes", ${drawer}`);
    const setUpWith = (seedPaths: readonly string[]) => {
      const source = new FakeSource();
      const root = source.addObject('h.1.shop', 'Shop');
      source.addVariable(root, 'x', { type: 'u64', value: 1 });
      const catalogue = shopCatalogue(rows);
      return { source, root, ...testView(source, root, { catalogue, filters: { seedPaths } }) };
    };

    it('while that object is missing', () => {
      const { source, root, view, render } = setUpWith([]);
      render();
      expect(countsOf(view)).to.deep.equal({ ...FITS, unmatched: 2 });
      const below = source.addObject('h.1.shop.drawer', 'Drawer', { parent: root });
      source.addVariable(below, 'coins', { type: 'u64', value: 1 });
      render();
      expect(countsOf(view)).to.deep.equal({ ...FITS, unmatched: 1 });
      source.remove(below);
      render();
      expect(countsOf(view)).to.deep.equal({ ...FITS, unmatched: 2 });
      source.remove(root);
      render();
      expect(countsOf(view)).to.deep.equal(FITS);
    });

    it('unless the filters exclude that object', () => {
      const { view, render } = setUpWith(['@root']);
      render();
      expect(countsOf(view)).to.deep.equal(FITS);
    });
  });

  const ROWS =
    row('a', 'gauge', 'var = "a"') +
    row('ab', 'summary', 'sum_var = "a", count_var = "b"') +
    row('h', 'histogram', 'var = "b"');
  const step = fc.tuple(
    fc.constantFrom('add', 'add', 'add', 'remove', 'till', 'close'),
    fc.constantFrom('a', 'b', 'c'),
    fc.constantFrom<ValueType[]>('u64', 'histogram', 'string'),
    fc.nat(20),
  );

  /** Returns the counts by a naive recount of the tree. */
  function expected(tills: readonly FakeObject[]) {
    const reads = [['a'], ['a', 'b'], ['b']] as const;
    const numbers = ['u64', 'i64', 'f64', 'bool'];
    const takes: readonly (readonly string[])[] = [numbers, numbers, ['histogram']];
    const counting = tills.flatMap(({ variables }) => [
      ...new Map([...variables].map((variable) => [variable.name, variable])).values(),
    ]);
    const isThere = (name: string) => counting.some((variable) => variable.name === name);
    const isWrong = (names: readonly string[], at: number) =>
      counting.some(({ name, type }) => names.includes(name) && !takes[at]?.includes(type));
    return {
      unmatched: tills.length === 0 ? 0 : reads.filter((names) => !names.every(isThere)).length,
      mistyped: reads.filter((names, at) => isWrong(names, at)).length,
      unread: counting.filter(({ name }) => name === 'c').length,
    };
  }

  it('equals a naive recount after random changes', () =>
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { source, root, view, render } = setUp(row('open', 'gauge', 'var = "open"'), ROWS);
        source.addVariable(root, 'open', { type: 'u64' });
        const floor = source.addObject('h.1.shop.floor', 'Floor', { parent: root });
        const tills: FakeObject[] = [];
        steps.forEach(([what, name, type, at], number) => {
          const till = tills[at % Math.max(1, tills.length)];
          if (what === 'till' || till === undefined)
            tills.push(source.addObject(`h.1.shop.floor.1.${number}`, 'Till', { parent: floor }));
          else if (what === 'add') source.addVariable(till, name, { type });
          else if (what === 'close')
            source.remove(...(tills.splice(tills.indexOf(till), 1) as [FakeObject]));
          else {
            const variable = [...till.variables][at % Math.max(1, till.variables.size)];
            if (variable !== undefined) source.remove(variable);
          }
          if (at % 4 > 0) return;
          render();
          expect(countsOf(view)).to.deep.equal(expected(tills));
        });
        render();
        expect(countsOf(view)).to.deep.equal(expected(tills));
      }),
    ));
});
