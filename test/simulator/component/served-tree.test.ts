import { expect } from 'chai';
import fc from 'fast-check';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { ServedTree } from '#app/simulator/component/served-tree.js';
import type { ServedObject } from '#app/simulator/component/served-tree.js';
import { vendorJson, vendorObject, vendorType } from '#app/simulator/component/vendor-json.js';
import type { VendorObject } from '#app/simulator/component/vendor-json.js';
import { Random } from '#app/simulator/course.js';
import { LiveTree, planPlainTree } from '#app/simulator/live-tree.js';
import type { ObjectPublisher } from '#app/simulator/live-tree.js';
import { parseScenario } from '#app/simulator/scenario.js';
import { stageOf } from '#app/simulator/simulation.js';
import { planTree } from '#app/simulator/tree-plan.js';
import { readComponent } from '../../support/component-reader.js';
import { treeOf } from '../../support/component/components.js';
import { expectedObjects } from '../../support/expected-objects.js';
import { ODD_SCENARIO } from '../../support/odd-scenario.js';
import { readTree } from '../../support/read-tree.js';
import type { PlainObject, PlainVariable } from '../../support/read-tree.js';
import { freshSegments } from '../../support/segments.js';
import { anyTree, served } from '../../support/component/any-tree.js';

const ROOM = { records: 1 << 16, slots: 1 << 15, stringBytes: 1 << 22, frameBytes: 1 << 22 };

/** The properties that a segment and a served tree have in common. */
interface Common {
  readonly id: string;
  readonly className: string;
  readonly state: string;
  readonly variables: readonly (readonly unknown[])[];
  readonly children: readonly Common[];
}

const ofServed = ({ id, className, state, variables, children }: ServedObject): Common => ({
  id,
  className,
  state,
  variables: [...variables]
    .filter(({ type }) => type !== 'histogram' && type !== 'summary')
    .map(({ name, type, kind, value }) => [name, type, kind, value]),
  children: [...children].map(ofServed),
});

const ofSegment = ({ name, className, state, variables, children }: PlainObject): Common => ({
  id: name,
  className,
  state,
  variables: variables
    .filter(({ type }) => type !== 'histogram' && type !== 'summary')
    .map((each) => [each.name, each.type, each.kind, valueOf(each)]),
  children: children.map(ofSegment),
});

function valueOf({ type, value }: PlainVariable): unknown {
  if (type === 'bool' && value !== undefined) return value !== 0n;
  return type === 'string' && typeof value === 'object' && 'text' in value ? value.text : value;
}

describe('ServedTree', () => {
  const segments = freshSegments();

  /** Runs a simulation with a segment and with a served tree, and returns both results. */
  function both(run: (publisher: ObjectPublisher) => void): readonly [Common[], Common[]] {
    const publisher = segments.publish('80', { capacity: ROOM });
    run(publisher);
    const { source } = segments.poller('80').poll();
    if (source === undefined) throw new Error('The segment cannot be read');
    const tree = new ServedTree();
    run(tree);
    return [Array.from(tree.roots, ofServed), readTree(source, ROOM.slots).map(ofSegment)];
  }

  it('equals a segment after all steps of a scenario', () => {
    const [root = ''] = ODD_SCENARIO.objects.map(({ id }) => id);
    const scenario = {
      ...ODD_SCENARIO,
      steps: [
        {
          after_ms: 0,
          set: {
            [`${root}.numbers`]: { zero: 7, 'most of u64': '5', tenth: 'Infinity' },
            // This text is longer than the space reserved for it.
            [`${root}.texts`]: { answer: 'ä'.repeat(100), greek: '\ud800 alone' },
          },
          remove: [`${root}.mount.7`, `${root}.trailing.`],
          state: { [root]: 'dead' },
          add: [
            { id: `${root}.mount.8`, parent: root, class: 'C', variables: {} },
            { id: `${root}.mount.7`, parent: root, class: 'D', variables: { n: { type: 'u64' } } },
          ],
          sync: [`${root}.mount.8`],
        },
      ],
    };
    const [served, published] = both((publisher) => {
      const parsed = parseScenario(JSON.stringify(scenario), 'scenario');
      const stage = stageOf(publisher, parsed);
      for (const step of parsed.steps) stage.play(step);
    });
    expect(served).to.deep.equal(published);
    expect(JSON.stringify(served.map(({ id }) => id))).to.include('desk.example.com.1.adh');
  });

  for (const app of ['ads', 'shop'])
    it(`equals a segment after many random changes to a tree of ${app}`, () => {
      const catalogue = loadCatalogues().get(app);
      const plan = catalogue === undefined ? planPlainTree(60) : planTree(catalogue, 60);
      const [served, published] = both((publisher) => {
        const tree = new LiveTree(publisher, `h.1.${app}`, plan, new Random(3));
        for (let beat = 0; beat < 100; beat++) tree.tick(0.3);
        expect(tree.dropped).to.equal(0);
      });
      expect(served).to.deep.equal(published);
    });

  it('ignores changes below a removed object', () => {
    const tree = new ServedTree();
    const root = tree.addRoot('h.1.x', 'C');
    const object = tree.addObject(root, 'h.1.x.a', 'C');
    const below = tree.addObject(object, 'h.1.x.a.b', 'C');
    const value = tree.addVariable(below, 'v', 'u64');
    expect(value.set(1)).to.equal(true);
    tree.removeObject(object);
    expect(value.set(2)).to.equal(false);
    expect(value.add(2)).to.equal(false);
    expect(tree.setState(below, 'dead')).to.equal(false);
    expect(tree.setSynced(below)).to.equal(false);
    expect(tree.addObject(below, 'late', 'C').id).to.equal(0);
    expect(tree.addVariable(below, 'late', 'string').set('x')).to.equal(false);
    tree.removeObject(object);
    expect(Array.from(tree.roots, ofServed)).to.deep.equal([
      { id: 'h.1.x', className: 'C', state: 'normal', variables: [], children: [] },
    ]);
  });
});

describe('The vendor type', () => {
  const article = (type: string) => (/^[if]/.test(type) ? `an ${type}` : `a ${type}`);
  const table = [
    ['u64', 'counter', 0n, 'Counter'],
    ['i64', 'counter', 0n, 'Counter'],
    ['u64', 'gauge', 2n ** 64n - 1n, 'Gauge'],
    ['i64', 'gauge', -1n, 'Gauge'],
    ['i64', 'unknown', undefined, 'Numeric'],
    ['i64', 'unknown', -(2n ** 31n), 'Numeric'],
    ['i64', 'unknown', -(2n ** 31n) - 1n, 'Large Numeric'],
    ['u64', 'unknown', 2n ** 31n - 1n, 'Numeric'],
    ['u64', 'unknown', 2n ** 31n, 'Large Numeric'],
    ['bool', 'unknown', true, 'Boolean'],
    ['bool', 'gauge', true, 'Boolean'],
    ['string', 'unknown', 'x', 'String'],
    ['f64', 'unknown', 0.5, 'Floating'],
    ['f64', 'counter', 0.5, 'Floating'],
    ['histogram', 'unknown', undefined, undefined],
    ['summary', 'unknown', undefined, undefined],
  ] as const;
  for (const [type, kind, value, expected] of table) {
    const variable = `${article(type)} ${kind === 'unknown' ? 'variable' : kind}`;
    const withValue = value === undefined ? 'without a value' : `with the value ${value}`;
    it(`of ${variable} ${withValue} is ${expected ?? 'missing'}`, () =>
      expect(vendorType(type, kind, value)).to.equal(expected));
  }
});

const text = (tree: ServedTree) => vendorJson(Array.from(tree.roots, vendorObject));
/** Returns the result of JSON.parse: integers as doubles, NaN and infinities as null. */
const rounded = (object: VendorObject): object => ({
  ...object,
  Variables: object.Variables.map(({ Value, ...names }) => {
    const value = typeof Value === 'bigint' ? Number(Value) : Value;
    return { ...names, Value: typeof value === 'number' && !isFinite(value) ? null : value };
  }),
  Children: object.Children.map(rounded),
});
const values = (variables: object) =>
  text(treeOf({ objects: [{ id: 'h.1.x', class: 'C', variables }] }));

describe('The vendor JSON', () => {
  it('has objects, variables and states in the order of publication', () => {
    const objects = [
      { id: 'h.1.x', class: 'P', variables: { a: { type: 'bool', value: true } } },
      { id: 'h.2.x', class: 'Q', state: 'auto_recovery' },
      { id: 'h.1.x.c', parent: 'h.1.x', class: 'C', variables: { b: { type: 'string' } } },
    ];
    expect(text(treeOf({ objects }))).to.equal(
      '[{"Instance":"h.1.x","Class":"P","Variables":[{"Name":"a","Type":"Boolean","Value":true}],"Children":[' +
        '{"Instance":"h.1.x.c","Class":"C","Variables":[{"Name":"b","Type":"String","Value":null}],"Children":[]}]},' +
        '{"Instance":"h.2.x","Class":"Q","State":"Auto Recovery","Variables":[],"Children":[]}]',
    );
  });

  const spellings = [
    ['u64', '18446744073709551615', '18446744073709551615'],
    ['i64', '-9223372036854775808', '-9223372036854775808'],
    ['i64', '9007199254740993', '9007199254740993'],
    ['f64', 42, '42.0'],
    ['f64', -0.25, '-0.25'],
    ['f64', 1e21, '1e+21'],
    ['f64', 'NaN', 'null'],
    ['f64', '-Infinity', 'null'],
    ['string', '"\\\n\u0000é', '"\\"\\\\\\n\\u0000é"'],
  ] as const;
  for (const [type, value, expected] of spellings)
    it(
      type === 'string'
        ? 'escapes quotes, backslashes and control characters in texts'
        : `writes the ${type} value ${value} as ${expected}`,
      () => expect(values({ v: { type, value } })).to.include(`"Value":${expected}}`),
    );

  it('omits values without a vendor type', () =>
    expect(
      values({
        h: { type: 'histogram', value: { bounds: [1], counts: [0, 0], sum: 0 } },
        s: { type: 'summary', value: { quantiles: {}, count: 0, sum: 0 } },
      }),
    ).to.include('"Variables":[]'));

  it('can be parsed back to the same tree', () => {
    fc.assert(
      fc.property(anyTree, (plan) => {
        const tree = served(plan);
        const json = text(tree);
        expect(readComponent(json)).to.deep.equal(expectedObjects(tree));
        // JSON.parse rounds integers, but must find the same members in the same order.
        expect(JSON.parse(json)).to.deep.equal(Array.from(tree.roots, vendorObject).map(rounded));
      }),
      { numRuns: 50 },
    );
  });

  it('keeps every digit of any integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const tree = new ServedTree();
        const root = tree.addRoot('h.1.x', 'C');
        tree.addVariable(root, 'u', 'u64').set(value);
        tree.addVariable(root, 'i', 'i64').set(value);
        const read = readComponent(text(tree)).get('h.1.x')?.variables;
        expect(read?.get('u')?.value).to.equal(value);
        expect(read?.get('i')?.value).to.equal(BigInt.asIntN(64, value));
      }),
    );
  });

  it('supports trees of the maximum depth', () => {
    const tree = new ServedTree();
    let parent = tree.addRoot('h.1.x', 'C');
    for (let depth = 2; depth <= 1000; depth++) parent = tree.addObject(parent, `h.${depth}`, 'C');
    expect(readComponent(text(tree))).to.have.property('size', 1000);
    expect(() => tree.addObject(parent, 'one more', 'C')).to.throw(
      RangeError,
      'Object "one more" is too deep: it has 1000 objects above it',
    );
  });

  it('has every object and value of a scenario with unusual names and values', () => {
    const tree = treeOf(ODD_SCENARIO);
    const objects = readComponent(text(tree));
    expect(objects).to.deep.equal(expectedObjects(tree));
    expect([...objects.keys()]).to.have.members(ODD_SCENARIO.objects.map(({ id }) => id));
    const numbers = objects.get('desk.example.com.1.adh.numbers')?.variables;
    expect(numbers?.get('most of u64')?.value).to.equal(2n ** 64n - 1n);
    expect(numbers?.get('least of i64')?.value).to.equal(-(2n ** 63n));
  });
});
