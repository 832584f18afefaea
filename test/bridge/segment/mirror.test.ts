// What a segment shows of a component, after any sequence of trees.
import { expect } from 'chai';
import fc from 'fast-check';
import { Mirror } from '#app/bridge/segment/mirror.js';
import { readTree as readDocument } from '#app/bridge/tree/read-tree.js';
import { inspect } from 'node:util';
import type { Json } from '#app/bridge/poll/json-document.js';
import type { ComponentObject, ComponentTree } from '#app/bridge/tree/component-tree.js';
import { readTree } from '../../support/read-tree.js';
import type { PlainObject } from '../../support/read-tree.js';
import { freshSegments } from '../../support/segments.js';

const CAPACITY = { records: 4096, stringBytes: 1 << 16, slots: 512, frameBytes: 1 << 16 };
const LIMITS = { maxObjects: 10_000, maxVariables: 10_000, maxDepth: 64 };

/** Object and variable names are few, so that trees have much in common. */
const json = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.bigInt(-(2n ** 64n), 2n ** 65n),
  fc.double({ noNaN: true }),
  fc.boolean(),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constant(null),
);
const variable = fc.record({
  Name: fc.constantFrom('a', 'b'),
  Type: fc.constantFrom('Counter', 'Gauge', 'Numeric', 'Boolean', 'String', 'Numeric Range', 'Odd'),
  Value: json,
});
const { objects: document } = fc.letrec<{ objects: Json[]; object: Json }>((tie) => ({
  objects: fc.array(tie('object'), { maxLength: 3, depthIdentifier: 'tree' }),
  object: fc.record({
    Instance: fc.constantFrom('r', 's', 't'),
    Class: fc.constantFrom('X', 'X', 'Y'),
    State: fc.constantFrom('Normal', 'Dead'),
    Variables: fc.array(variable, { maxLength: 4 }),
    Children: fc.oneof({ depthIdentifier: 'tree' }, fc.constant([]), tie('objects')),
  }),
}));
const trees = fc.array(
  document.filter((objects) => objects.length > 0),
  { minLength: 1, maxLength: 12 },
);

interface Plain {
  readonly id: string;
  readonly className: string;
  readonly state: string;
  readonly variables: readonly string[];
  readonly children: readonly Plain[];
}

/** Order counts for nothing: what is added later stands later. */
const sorted = (objects: readonly Plain[]): Plain[] =>
  objects.toSorted((a, b) => (a.id < b.id ? -1 : 1));

const shownOf = ({ name, className, state, variables, children }: PlainObject): Plain => ({
  id: name,
  className,
  state,
  variables: variables
    .map((each) => {
      const { value } = each;
      const text = typeof value === 'object' ? (value as { text: string }).text : value;
      const plain = each.type === 'bool' ? text === 1n : text;
      return `${each.name} ${each.kind} ${typeof plain === 'number' || typeof plain === 'bigint' ? Number(plain) : String(plain)} ${typeof plain === 'bigint' ? plain : ''}`;
    })
    .sort(),
  children: sorted(children.map(shownOf)),
});

/** What the segment must show, worked out from the tree alone. */
function wanted({ objects }: ComponentTree): Plain[] {
  const below = (parent: ComponentObject | undefined): Plain[] =>
    sorted(
      [...objects.values()]
        .filter((object) => object.parent === parent)
        .map((object) => ({
          id: object.id,
          className: object.className,
          state: object.state,
          variables: [...object.variables.values()]
            .map(({ name, kind, value: { type, value } }) => {
              const isNumber = typeof value === 'number' || typeof value === 'bigint';
              const exact = isNumber && type !== 'f64' ? BigInt(value) : '';
              return `${name} ${kind} ${isNumber ? Number(value) : value} ${exact}`;
            })
            .sort(),
          children: below(object),
        })),
    );
  return below(undefined);
}

/** A number that an f64 holds from before stays one, whole or not. */
const loose = (objects: readonly Plain[]): unknown =>
  JSON.parse(JSON.stringify(objects).replace(/ -?\d+"/g, ' "'));

describe('Mirror', () => {
  const segments = freshSegments();

  const stage = (capacity = CAPACITY) => {
    const publisher = segments.publish('82', { capacity });
    const mirror = new Mirror(publisher);
    const watch = segments.watch('82');
    const look = () => {
      let pollResult = watch.poll();
      while (pollResult.hasMore) pollResult = watch.poll();
      const { source } = pollResult;
      if (source === undefined) throw new Error('There is no source');
      return readTree(source, capacity.slots);
    };
    return { publisher, mirror, look, drops: () => watch.poll().drops };
  };

  it('shows each tree as it is, whatever it showed before', () => {
    let changed = 0;
    fc.assert(
      fc.property(trees, (documents) => {
        const { mirror, look } = stage();
        documents.forEach((each, index) => {
          const tree = readDocument(each, LIMITS);
          const before = mirror.objectCount;
          const { addedObjects, removedObjects, changedValues, dropped } = mirror.show(
            tree.objects,
            BigInt(index),
          );
          expect(dropped).to.equal(0);
          expect(before + addedObjects - removedObjects).to.equal(tree.objects.size);
          expect(mirror.objectCount).to.equal(tree.objects.size);
          const roots = look();
          expect(loose(sorted(roots.map(shownOf)))).to.deep.equal(loose(wanted(tree)));
          for (const root of roots) {
            expect(root.asOf).to.equal(BigInt(index));
            expect(root.isSynced).to.equal(true);
          }
          changed += changedValues;
        });
        segments.clear();
      }),
      { numRuns: 60 },
    );
    expect(changed).to.be.above(0);
  });

  const object = (
    id: string,
    variables: readonly Json[] = [],
    children: readonly Json[] = [],
  ): Json => ({
    Instance: id,
    Class: 'X',
    Variables: variables,
    Children: children,
  });
  const show = (mirror: Mirror, ...objects: readonly Json[]) =>
    mirror.show(readDocument(objects, LIMITS).objects, 1n);
  const numeric = (Value: Json, Type = 'Numeric'): Json => ({ Name: 'v', Type, Value });

  it('stores nothing when nothing differs', () => {
    const { mirror } = stage();
    const tree = object(
      'r',
      [numeric(1), { Name: 't', Type: 'String', Value: 'x' }],
      [object('s')],
    );
    show(mirror, tree);
    expect(show(mirror, tree)).to.deep.equal({
      addedObjects: 0,
      removedObjects: 0,
      changedValues: 0,
      dropped: 0,
      droppedObjects: 0,
    });
  });

  const first = (look: () => PlainObject[]) => look()[0]?.variables[0];

  it('changes the type of a variable only where its value needs another', () => {
    const { mirror, look } = stage();
    const rows: readonly (readonly [Json, string])[] = [
      [5, 'i64'],
      [2n ** 63n, 'u64'],
      [6, 'u64'],
      [-1, 'i64'],
      [0.5, 'f64'],
      [7, 'f64'],
      [2n ** 53n + 1n, 'i64'],
    ];
    for (const [value, type] of rows) {
      show(mirror, object('r', [numeric(value)]));
      expect(first(look)?.type, inspect(value)).to.equal(type);
      expect(Number(first(look)?.value), inspect(value)).to.equal(Number(value));
    }
  });

  it('makes room for texts that grow, up to the longest that a segment takes', () => {
    const { mirror, look } = stage({ ...CAPACITY, frameBytes: 1 << 20 });
    for (const length of [0, 1, 40, 41, 1000, 30_000, 5]) {
      const text = 'ä'.repeat(length);
      show(mirror, object('r', [numeric(text, 'String')]));
      expect(first(look)?.value).to.deep.equal({ type: 'string', text });
    }
  });

  it('puts all roots into auto_recovery when they are stale, and takes that back with the next tree', () => {
    const { mirror, look } = stage();
    const tree = [object('r', [], [object('s')]), object('t')];
    show(mirror, ...tree);
    mirror.markStale();
    expect(look().map(({ state }) => state)).to.deep.equal(['auto_recovery', 'auto_recovery']);
    expect(look()[0]?.children[0]?.state).to.equal('normal');
    show(mirror, ...tree);
    expect(look().map(({ state }) => state)).to.deep.equal(['normal', 'normal']);
  });

  it('removes all roots, and shows the next tree as a new one', () => {
    const { mirror, look } = stage();
    show(mirror, object('r', [], [object('s')]), object('t'));
    expect(mirror.clear()).to.equal(3);
    expect(look()).to.deep.equal([]);
    expect(mirror.clear()).to.equal(0);
    expect(show(mirror, object('r')).addedObjects).to.equal(1);
    expect(look()).to.have.lengthOf(1);
  });

  it('counts what finds no room, shows the rest, and shows all once there is room', () => {
    const { mirror, look, drops } = stage();
    const many = Array.from({ length: 700 }, (_, n) =>
      object(`s${n}`, [], [object(`s${n}.below`)]),
    );
    const { addedObjects, dropped } = show(mirror, object('r', [], many));
    expect(addedObjects + dropped).to.equal(1401);
    expect(dropped).to.be.above(800);
    expect(show(mirror, object('r', [], many)).dropped).to.equal(dropped);
    expect(drops().objects, 'not those of both trees').to.equal(dropped);
    expect(look()[0]?.isSynced).to.equal(true);
    const few = many.slice(0, 100);
    expect(show(mirror, object('r', [], few)).dropped).to.equal(0);
    expect(look()[0]?.children).to.have.lengthOf(100);
    for (const each of look()[0]?.children ?? []) expect(each.children).to.have.lengthOf(1);
  });

  it('survives months of trees that come and go in a segment of some thousand records', () => {
    const { mirror, look } = stage();
    for (let round = 0; round < 3000; round++) {
      const value = `${'x'.repeat(round % 300)}${round}`;
      const coming = object(`client.${round % 7}`, [
        numeric(value, 'String'),
        { Name: 'n', Type: 'Counter', Value: round },
      ]);
      const { dropped } = show(mirror, object('r', [], round % 2 === 0 ? [coming] : []));
      expect(dropped, `round ${round}`).to.equal(0);
    }
    expect(look()[0]?.children).to.have.lengthOf(0);
  });
});
