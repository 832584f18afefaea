// Tree queries: the rows of objects and variables, their metrics, and parts of large trees.
import { expect } from 'chai';
import fc from 'fast-check';
import { LastExplainer } from '#app/exposition/query/explain-last.js';
import { queryTree, queryTreeOf } from '#app/exposition/query/tree-query.js';
import type {
  Frame,
  TreeAnswer,
  TreeObject,
  TreePart,
  TreeQuery,
  TreeVariable,
  Variable,
} from '#app/model.js';
import { FakeSource } from '../../support/fake-source.js';
import type { FakeObject, VariableOptions } from '../../support/fake-source.js';
import { runToEnd } from '#app/run-to-end.js';
import { treeQuery } from '../../support/tree-query.js';
import { shopCatalogue, testView } from '../test-view.js';
import type { TestViewOptions } from '../test-view.js';

const row = (name: string, rest: string, type = 'gauge'): string =>
  `{ name = "shop_${name}", type = "${type}", help = "Help.", ${rest} },`;

const ROOT = 'h.1.shop';

/** Renders a shop whose root has these variables, then adds the items of `add`. */
function shop(
  variables: Readonly<Record<string, VariableOptions>>,
  options: TestViewOptions = {},
  add: (source: FakeSource, root: FakeObject) => void = () => undefined,
) {
  const source = new FakeSource();
  const root = source.addObject(ROOT, 'Shop');
  for (const [name, of] of Object.entries(variables)) source.addVariable(root, name, of);
  add(source, root);
  const { view, render } = testView(source, root, options);
  render();
  const answer = (query: Partial<TreeQuery> = {}): TreeAnswer =>
    runToEnd(queryTree(view, treeQuery(query)));
  const part = (query: Partial<TreeQuery> = {}): TreePart => {
    const found = answer(query);
    if (found.kind !== 'part') throw new Error(JSON.stringify(found));
    return found;
  };
  return { source, root, view, answer, part };
}

const variablesOf = ({ rows }: TreePart): readonly TreeVariable[] =>
  rows.filter((each) => each.kind === 'variable');
const objectsOf = ({ rows }: TreePart): readonly TreeObject[] =>
  rows.filter((each) => each.kind === 'object');
const names = ({ rows }: TreePart): readonly string[] => rows.map(({ name }) => name);

/** Returns the metrics of a variable, and the reasons for missing ones, as one text. */
const metricsOf = (part: TreePart, index = 0): string => {
  const { metrics, why } = variablesOf(part)[index] ?? { metrics: [], why: 'no row' };
  const each = metrics.map(({ name, labels, series, why: reason }) =>
    series > 0 ? `${name}{${labels}} ${series}` : `${name}: ${reason}`,
  );
  return [...each, why].filter(Boolean).join('; ');
};

describe('a tree query', () => {
  describe('states that a variable has', () => {
    const histogram: Frame = { type: 'histogram', counts: BigUint64Array.of(1n, 2n), sum: 3 };
    const cases: readonly [
      what: string,
      rows: string,
      variable: VariableOptions,
      wanted: string,
      options?: TestViewOptions,
    ][] = [
      ['a metric', row('a', 'var = "v"'), { type: 'i64', value: 1n }, 'shop_a{} 1'],
      [
        'several metrics',
        row('a', 'var = "v", static = { x = "1" }') + row('b', 'var = "v"'),
        { type: 'i64', value: 1n },
        'shop_a{x="1"} 1; shop_b{} 1',
      ],
      [
        'several series of one metric',
        row('a', 'var = "v"', 'histogram'),
        { type: 'histogram', schema: [1], value: histogram },
        'shop_a{} 4',
      ],
      [
        'no metric if no row reads it',
        row('a', 'var = "w"'),
        { type: 'i64', value: 1n },
        'no row reads it',
      ],
      [
        'no series before it is synced',
        row('a', 'var = "v"'),
        { type: 'i64' },
        'shop_a: not synced yet',
      ],
      [
        'no series if its type does not fit the row',
        row('a', 'var = "v"'),
        { type: 'string', value: 'x' },
        'shop_a: its type is string, but the row reads i64, u64, f64 or bool',
      ],
      [
        'no series if the row cannot show a histogram',
        row('a', 'var = "v", states = ["open", "closed"]', 'stateset'),
        { type: 'histogram', schema: [1], value: histogram },
        'shop_a: its type is histogram, but the row reads string, u64, i64, f64 or bool',
      ],
      [
        'no series if the target has too many series',
        row('a', 'var = "w"') + row('b', 'var = "v"'),
        { type: 'i64', value: 1n },
        'shop_b: left out: target_max_series is 1',
        { limits: { series: 1 } },
      ],
    ];
    for (const [what, rows, variable, wanted, options] of cases)
      it(what, () => {
        const first: VariableOptions = { type: 'i64', value: 1n };
        const others = wanted.includes('target_max_series')
          ? { w: first, v: variable }
          : { v: variable };
        const { part } = shop(others, { catalogue: shopCatalogue(rows), ...options });
        const index = 'w' in others ? 1 : 0;
        expect(metricsOf(part(), index)).to.equal(wanted);
      });

    it('a series with the name and labels of another series', () => {
      const twice = row('a', 'var = "v"');
      const { part } = shop({}, { catalogue: shopCatalogue('', twice) }, (source, root) => {
        // Both objects have the same id, so their series have the same labels.
        for (const parent of [root, root]) {
          const till = source.addObject(`${ROOT}.floor.1.2`, 'Till', { parent });
          source.addVariable(till, 'v', { type: 'i64', value: 1n });
        }
      });
      expect(metricsOf(part(), 0)).to.equal('shop_a{floor="1",till="2"} 1');
      expect(metricsOf(part(), 1)).to.equal(
        'shop_a: clash: another series has this name and these labels',
      );
    });

    it('no series if a newer variable has its name', () => {
      const { part } = shop(
        {},
        { catalogue: shopCatalogue(row('a', 'var = "v"')) },
        (source, root) => {
          source.addVariable(root, 'v', { type: 'i64', value: 1n });
          source.addVariable(root, 'v', { type: 'i64', value: 2n });
        },
      );
      expect(metricsOf(part(), 0)).to.equal('a later variable of this object has the same name');
      expect(metricsOf(part(), 1)).to.equal('shop_a{} 1');
    });

    it('a generated metric if the target has no catalogue', () => {
      const { part } = shop({ 'till count': { type: 'i64', value: 1n } }, { app: 'kiosk' });
      expect(metricsOf(part())).to.equal('kiosk_shop_till_count{object="@root"} 1');
    });
  });

  describe('of a publisher that is not served', () => {
    const one: VariableOptions = { type: 'i64', value: 1n };
    const variables = {
      ...{ v: one, w: one, late: { type: 'i64' } },
      ...{ read: { type: 'string', value: 'a' }, unread: { type: 'string', value: 'b' } },
    } as const satisfies Readonly<Record<string, VariableOptions>>;
    const ROWS =
      row('a', 'var = "v"') +
      row('b', 'var = "v"') +
      row('i', 'labels_from = { l = "read" }', 'info').replace('shop_i', 'shop_i_info');
    const catalogue = shopCatalogue(ROWS, row('c', 'var = "w"'));
    const classes = { classes: ['shop'] };
    const cases: readonly (readonly [title: string, options: TestViewOptions])[] = [
      ['without a catalogue', {}],
      ['with a catalogue', { catalogue }],
      ['with show_uncatalogued', { catalogue, showUncatalogued: true }],
      ['with classes', { catalogue, filters: classes }],
      [
        'with classes and show_uncatalogued',
        { catalogue, filters: classes, showUncatalogued: true },
      ],
      ['with seed paths', { filters: { seedPaths: ['@root'] } }],
    ];
    for (const [title, options] of cases)
      it(`has the values and metrics of the tree before, ${title}`, () => {
        const { source, root, view, part } = shop(variables, options, (all, top) => {
          all.addVariable(all.addObject(`${ROOT}.till`, 'Till', { parent: top }), 'w', one);
        });
        const tree = {
          ...{ root, source, tracked: undefined, isClosed: () => false },
          explainer: new LastExplainer(root, view.context),
        };
        const asked = { showsUnreadTexts: false };
        const last = runToEnd(queryTreeOf(tree, treeQuery(asked)));
        if (last.kind !== 'part') throw new Error(last.kind);
        const factsOf = ({ rows }: TreePart) =>
          rows.map(({ name, value, metrics, why }) => ({
            ...{ name, value, metrics: metrics.map((each) => each.name) },
            isExcluded: why.startsWith('not read'),
          }));
        expect(factsOf(last)).to.deep.equal(factsOf(part(asked)));
      });
  });

  describe('with show_uncatalogued', () => {
    const catalogue = shopCatalogue(
      row('a', 'var = "v"') + row('b', 'var = "nothing"'),
      row('c', 'var = "v"'),
    );
    const one: VariableOptions = { type: 'i64', value: 1n };
    const shown = (more: TestViewOptions = {}) =>
      shop(
        { v: one, b: one, name: { type: 'string', value: 'Jane' } },
        {
          ...{ catalogue, showUncatalogued: true },
          ...more,
        },
      );

    it('shows the metric of each variable without a row, under its final name', () => {
      const { part } = shown();
      const answer = part({ showsUnreadTexts: false });
      expect([0, 1, 2].map((index) => metricsOf(answer, index))).to.deep.equal([
        'shop_a{} 1',
        'shop_b_uncatalogued{object="@root"} 1',
        'shop_name_info{object="@root"} 1',
      ]);
      expect(variablesOf(answer)[2]?.value).to.include({ kind: 'text', text: 'Jane' });
      expect(objectsOf(answer)[0]?.why).to.equal('');
    });

    it('finds variables by their metric names', () => {
      const { part } = shown();
      const found = part({ words: ['b_uncatalogued'], field: 'metric' });
      expect(variablesOf(found).map(({ name }) => name)).to.deep.equal(['b']);
    });

    it('explains that only rows for excluded classes read a variable', () => {
      const rows = row('a', 'var = "v"');
      const other = shopCatalogue(rows).classes.map((each) => ({ ...each, alias: 'other' }));
      const base = shopCatalogue(row('b', 'var = "w"'));
      const both = { ...base, classes: [...base.classes, ...other] };
      const { part } = shown({ catalogue: both, filters: { classes: ['shop'] } });
      expect(metricsOf(part())).to.equal(
        'the target excludes the classes of all rows that read it',
      );
    });
  });

  describe('for an object', () => {
    const catalogue = () => shopCatalogue('', row('a', 'var = "v"'));
    const objectAt = (path: string, className: string, options: TestViewOptions = {}) => {
      const { part, source } = shop({}, { catalogue: catalogue(), ...options }, (made, parent) => {
        const object = made.addObject(`${ROOT}.${path}`, className, { parent });
        made.addVariable(object, 'v', { type: 'i64', value: 7n });
        made.addVariable(object, 'text', { type: 'string', value: 'secret' });
      });
      const answer = part();
      const [variable, text] = variablesOf(answer);
      return { why: objectsOf(answer)[1]?.why, variable, text, source };
    };

    for (const [what, path, className, wanted] of [
      ['explains that its class has no row', 'floor.1.2', 'Lamp', 'its class has no row'],
      [
        'explains that its class has rows only for other paths',
        'cellar',
        'Till',
        'its class has rows only for objects at other paths',
      ],
      ['explains nothing if a row is for its class and path', 'floor.1.2', 'Till', ''],
    ] as const)
      it(what, () => {
        const { why, variable } = objectAt(path, className);
        expect(why).to.equal(wanted);
        expect(variable?.why).to.equal(wanted);
        expect(variable?.value).to.deep.equal({ kind: 'plain', text: '7' });
      });

    for (const [what, options, wanted] of [
      ['the class filter', { filters: { classes: ['shop'] } }, 'not read: classes excludes it'],
      [
        'the seed path filter',
        { filters: { seedPaths: ['@root'] } },
        'not read: seed_paths excludes it',
      ],
      ['a limit on objects', { limits: { objects: 1 } }, 'left out: target_max_objects is 1'],
    ] as const)
      it(`explains that ${what} omits the object, and shows no values`, () => {
        const { why, variable, text } = objectAt('floor.1.2', 'Till', options);
        expect(why).to.equal(wanted);
        for (const each of [variable, text]) {
          expect(each?.why).to.equal(wanted);
          expect(each?.value).to.deep.equal({ kind: 'none', reason: 'not read' });
        }
      });

    it('explains that a limit on variables omits one of the variables', () => {
      const { variable, text } = objectAt('floor.1.2', 'Till', { limits: { variables: 1 } });
      expect(variable?.why).to.equal('');
      expect(text?.why).to.equal('left out: target_max_variables is 1');
    });
  });

  describe('shows', () => {
    const summary: Frame = {
      ...{ type: 'summary', count: 3n, sum: 6 },
      values: Float64Array.of(1.5, 3),
    };
    const many: Frame = {
      ...{ type: 'histogram', sum: 0 },
      counts: BigUint64Array.from({ length: 11 }, () => 1n),
    };
    for (const [what, options, wanted] of [
      ['an integer', { type: 'u64', value: 2n ** 64n - 1n }, '18446744073709551615'],
      ['a negative integer', { type: 'i64', value: -5n }, '-5'],
      ['a double', { type: 'f64', value: 0.1 }, '0.1'],
      ['a boolean', { type: 'bool', value: true }, 'true'],
      [
        'a summary',
        { type: 'summary', schema: [0.5, 0.9], value: summary },
        '3 observed, sum 6, 0.5: 1.5, 0.9: 3',
      ],
      [
        'a sum without the rounding errors of its additions',
        { type: 'summary', schema: [], value: { ...summary, sum: 46.79999999999948 } },
        '3 observed, sum 46.8',
      ],
      [
        'a sum with many digits',
        { type: 'summary', schema: [], value: { ...summary, sum: 12345678901234.25 } },
        '3 observed, sum 12345678901234.25',
      ],
      [
        'a long histogram',
        { type: 'histogram', schema: Array.from({ length: 10 }, (_, i) => i), value: many },
        '11 observed, sum 0, ≤0: 1, ≤1: 1, ≤2: 1, ≤3: 1, ≤4: 1, ≤5: 1, ≤6: 1, ≤7: 1, and 3 more buckets',
      ],
    ] as const satisfies readonly (readonly [string, VariableOptions, string])[])
      it(what, () => {
        const { part } = shop({ v: options });
        expect(variablesOf(part())[0]?.value).to.deep.equal({ kind: 'plain', text: wanted });
      });

    it('the beginning of a long string, cut after a whole character', () => {
      const { part } = shop({ v: { type: 'string', value: `${'x'.repeat(159)}😀😀` } });
      expect(variablesOf(part())[0]?.value).to.deep.equal({
        ...{ kind: 'text', text: 'x'.repeat(159), characters: 163 },
      });
    });

    it('the state of an object', () => {
      const { part, source, root } = shop({});
      source.setState(root, 'dead');
      expect(objectsOf(part())[0]?.value).to.deep.equal({ kind: 'plain', text: 'dead' });
    });

    it('the current value of a variable, and no value of an unsynced variable', () => {
      const { part, source, root } = shop({ v: { type: 'i64', value: 1n } });
      const [variable] = [...root.variables];
      if (variable === undefined) throw new Error('no variable');
      source.set(variable, 2n);
      expect(variablesOf(part())[0]?.value).to.deep.equal({ kind: 'plain', text: '2' });
      source.setSynced(variable, false);
      const [gone] = variablesOf(part());
      expect(gone?.value).to.deep.equal({ kind: 'none', reason: 'not synced' });
      expect(gone?.isSynced).to.equal(false);
    });

    it('no value for a frame that cannot be copied consistently', () => {
      const { part, source, root } = shop({ v: { type: 'string', value: 'x' } });
      for (const each of root.variables) source.restless.add(each);
      expect(variablesOf(part())[0]?.value).to.deep.equal({
        kind: 'none',
        reason: 'no consistent copy',
      });
    });

    it('a string that no row reads only to clients with permission for it', () => {
      const { part } = shop(
        { v: { type: 'string', value: 'secret' }, w: { type: 'i64', value: 1n } },
        { catalogue: shopCatalogue(row('a', 'var = "w"')) },
      );
      const hides = { showsUnreadTexts: false };
      const [text, number] = variablesOf(part(hides));
      expect(text?.value).to.deep.equal({
        kind: 'none',
        reason: 'hidden: no catalogue row reads this string',
      });
      expect(number?.value).to.deep.equal({ kind: 'plain', text: '1' });
      const search = { words: ['secret'], field: 'value' } as const;
      expect(names(part(search))).to.deep.equal([ROOT, 'v']);
      expect(names(part({ ...search, ...hides }))).to.deep.equal([]);
    });
  });

  describe('finds', () => {
    const setUp = () =>
      shop(
        { sales: { type: 'i64', value: 42n }, note: { type: 'string', value: 'Fresh Fish' } },
        { catalogue: shopCatalogue(row('sold', 'var = "sales"'), row('open', 'var = "isOpen"')) },
        (source, parent) => {
          const till = source.addObject(`${ROOT}.floor.1.2`, 'Till', { parent });
          source.addVariable(till, 'isOpen', { type: 'bool', value: true });
          source.addVariable(till, 'late', { type: 'i64' });
        },
      );
    const TILL = `${ROOT}.floor.1.2`;
    const cases: readonly [what: string, Partial<TreeQuery>, readonly string[]][] = [
      [
        'all objects and variables if the query is empty',
        {},
        [ROOT, 'sales', 'note', TILL, 'isOpen', 'late'],
      ],
      [
        'objects and variables by a word of the path',
        { words: ['floor'] },
        [TILL, 'isOpen', 'late'],
      ],
      [
        'nothing if the word occurs only outside the chosen field',
        { words: ['floor'], field: 'variable' },
        [],
      ],
      [
        'a variable by a word of its name, in upper or lower case',
        { words: ['isopen'] },
        [TILL, 'isOpen'],
      ],
      ['a variable by two words of its path and name', { words: ['till', 'late'] }, [TILL, 'late']],
      [
        'an object and its variables by the class',
        { words: ['till'], field: 'class' },
        [TILL, 'isOpen', 'late'],
      ],
      ['a variable by the metric name of its row', { words: ['shop_sold'] }, [ROOT, 'sales']],
      [
        'a variable by a word of its metric name',
        { words: ['open'], field: 'metric' },
        [TILL, 'isOpen'],
      ],
      ['a variable by its value', { words: ['42'], field: 'value' }, [ROOT, 'sales']],
      ['a variable by a word of its text', { words: ['fish'], field: 'value' }, [ROOT, 'note']],
      ['objects by their state', { words: ['normal'], field: 'value' }, [ROOT, TILL]],
      ['nothing if no variable has both words', { words: ['fish', '42'] }, []],
      [
        'only variables with a metric, with their objects',
        { choice: 'metrics' },
        [ROOT, 'sales', TILL, 'isOpen'],
      ],
      [
        'only variables without a metric, with their objects',
        { choice: 'left-out' },
        [ROOT, 'note', TILL, 'late'],
      ],
      [
        'only variables without a value, with their objects',
        { choice: 'unsynced' },
        [TILL, 'late'],
      ],
      [
        'variables without a metric by a word of the path',
        { choice: 'left-out', words: ['floor'] },
        [TILL, 'late'],
      ],
      ['an object and its variables by the full path', { object: TILL }, [TILL, 'isOpen', 'late']],
      [
        'a variable by a word and the path of its object below the root',
        { object: 'floor.1.2', words: ['late'] },
        [TILL, 'late'],
      ],
    ];
    for (const [what, query, wanted] of cases)
      it(what, () => expect(names(setUp().part(query))).to.deep.equal(wanted));

    it('the ancestors of a match, and does not mark them as matches', () => {
      const [above] = objectsOf(setUp().part({ words: ['late'], field: 'variable' }));
      expect(above).to.include({ name: TILL, isMatch: false, variables: 2, children: 0, depth: 1 });
    });

    it('the ancestors of an object by its path', () =>
      expect(setUp().part({ object: TILL }).above).to.deep.equal([ROOT]));

    it('no object by an unknown path', () =>
      expect(setUp().answer({ object: 'floor' })).to.deep.equal({ kind: 'no-object' }));
  });

  describe('on a large tree', () => {
    /** A random tree: chains of objects, each with children and some variables. */
    const largeTree = (sizes: readonly number[]) =>
      shop({}, {}, (source, root) => {
        let parent = root;
        sizes.forEach((size, i) => {
          const object = source.addObject(`${ROOT}.o${i}`, 'O', { parent });
          for (let v = 0; v < size % 5; v++)
            source.addVariable(object, `v${i}.${v}`, { type: 'i64', value: BigInt(size) });
          if (size % 3 === 0) parent = object;
        });
      });
    const sizes = fc.array(fc.nat(20), { maxLength: 30 });

    it('returns in several parts the rows that it returns in one answer', () =>
      fc.assert(
        fc.property(
          sizes,
          fc.integer({ min: 1, max: 7 }),
          fc.boolean(),
          (given, maxRows, isSearch) => {
            const { part } = largeTree(given);
            const query = isSearch ? ({ words: ['1'], field: 'value' } as const) : {};
            const matches = ({ rows }: TreePart) =>
              rows.filter((each) => each.kind === 'variable' || each.isMatch).map(({ id }) => id);
            const whole = matches(part(query));
            const found: number[] = [];
            let from: number | undefined = 0;
            for (let parts = 0; from !== undefined; parts++) {
              expect(parts).to.be.at.most(200);
              const answer: TreePart = part({ ...query, from, maxRows });
              expect(answer.rows.length).to.be.at.most(maxRows + 1);
              found.push(...matches(answer));
              from = answer.next;
            }
            expect(found).to.deep.equal(whole);
          },
        ),
        { numRuns: 25 },
      ));

    it('starts at any position, and repeats the object of the first variable', () => {
      const { part } = largeTree([4]);
      expect(names(part({ from: 3 }))).to.deep.equal([`${ROOT}.o0`, 'v0.1', 'v0.2', 'v0.3']);
      expect(names(part({ from: 2 }))).to.deep.equal([
        `${ROOT}.o0`,
        'v0.0',
        'v0.1',
        'v0.2',
        'v0.3',
      ]);
      expect(part({ from: 1000 }))
        .to.include({ next: undefined })
        .and.deep.include({ rows: [] });
    });

    it('ends a part after fewer rows if the rows have long texts', () => {
      const help = 'h'.repeat(400);
      const variables = Object.fromEntries(
        Array.from({ length: 20 }, (_, i) => [`v${i}`, { type: 'i64', value: 1n, help } as const]),
      );
      const { part } = shop(variables);
      const answer = part({ maxCharacters: 1000 });
      expect(answer.rows.length).to.be.within(2, 5);
      expect(answer.next).to.equal(answer.rows.length);
    });

    it('yields after at most 64 objects and variables', () => {
      const { view } = largeTree(Array.from({ length: 2000 }, () => 1));
      let pauses = 0;
      const steps = queryTree(view, treeQuery({ words: ['nothing'] }));
      while (steps.next().done !== true) pauses++;
      expect(pauses).to.be.within(4000 / 64 - 2, 4000 / 64 + 2);
    });

    it('ends at its deadline, and the next query continues from there', () => {
      const { view, part } = largeTree(Array.from({ length: 2000 }, () => 1));
      const query = { words: ['v1999'], field: 'variable' } as const;
      const late = runToEnd(queryTree(view, treeQuery({ ...query, maxMs: 0 })));
      if (late.kind !== 'part') throw new Error(late.kind);
      expect(late).to.include({ isLate: true });
      expect(late.rows).to.deep.equal([]);
      expect(late.next).to.be.within(1, 64);
      expect(names(part({ ...query, from: late.next ?? 0 }))).to.include('v1999.0');
    });

    it('reports a lost root if the root is removed during the query', () => {
      const { view } = largeTree(Array.from({ length: 2000 }, () => 1));
      const steps = queryTree(view, treeQuery({ words: ['nothing'] }));
      steps.next();
      runToEnd(view.closing());
      expect(runToEnd(steps)).to.deep.equal({
        kind: 'no-tree',
        reason: 'its root was lost during the query',
      });
    });

    it('takes into account changes of the tree between two slices', () => {
      const { view, source, root } = largeTree(Array.from({ length: 300 }, () => 1));
      const steps = queryTree(view, treeQuery({ words: ['new'], field: 'object' }));
      steps.next();
      const [first] = [...root.children] as FakeObject[];
      if (first !== undefined) source.remove(first);
      source.addObject(`${ROOT}.new`, 'O', { parent: root });
      const answer = runToEnd(steps);
      expect(answer.kind === 'part' && names(answer)).to.deep.equal([`${ROOT}.new`]);
    });
  });

  it('does not change the text of the next render', () => {
    const variables: Readonly<Record<string, VariableOptions>> = {
      a: { type: 'i64', value: 1n },
      b: { type: 'string', value: 'x' },
    };
    const source = new FakeSource();
    const root = source.addObject(ROOT, 'Shop');
    const made: Variable[] = Object.entries(variables).map(([name, of]) =>
      source.addVariable(root, name, of),
    );
    expect(made).to.have.lengthOf(2);
    const { view, lines } = testView(source, root, { app: 'kiosk' });
    const before = lines();
    runToEnd(queryTree(view, treeQuery()));
    expect(runToEnd(view.copyingValues())).to.equal(false);
    expect(lines()).to.deep.equal(before);
  });
});
