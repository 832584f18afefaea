// Tests the segment of a component after any sequence of trees.
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
import { anyCharacter } from '../../support/any-character.js';

const CAPACITY = { records: 4096, stringBytes: 1 << 16, slots: 512, frameBytes: 1 << 16 };
const LIMITS = { maxObjects: 10_000, maxVariables: 10_000, maxDepth: 64 };

/** Object and variable names are few, so that trees have much in common. */
const json = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.bigInt(-(2n ** 64n), 2n ** 65n),
  fc.double({ noNaN: true }),
  fc.boolean(),
  fc.string({ unit: anyCharacter, maxLength: 200 }),
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

/** Sorts objects, because the order of siblings depends on the order of their addition. */
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

/** Returns the expected content of the segment, derived from the tree alone. */
function expectedOf({ objects }: ComponentTree): Plain[] {
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

/** Removes the types of integers, because a variable that was once f64 stays f64. */
const loose = (objects: readonly Plain[]): unknown =>
  JSON.parse(JSON.stringify(objects).replace(/ -?\d+"/g, ' "'));

describe('The mirror of a component', () => {
  const segments = freshSegments();

  const mirrored = (capacity = CAPACITY) => {
    const publisher = segments.publish('82', { capacity });
    const mirror = new Mirror(publisher);
    const watch = segments.poller('82');
    const readBack = () => {
      let pollResult = watch.poll();
      while (pollResult.hasMore) pollResult = watch.poll();
      const { source } = pollResult;
      if (source === undefined) throw new Error('There is no source');
      return readTree(source, capacity.slots);
    };
    return { publisher, mirror, readBack, drops: () => watch.poll().drops };
  };

  it('publishes each tree exactly, whatever tree it published before', () => {
    let changed = 0;
    fc.assert(
      fc.property(trees, (documents) => {
        const { mirror, readBack } = mirrored();
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
          const roots = readBack();
          expect(loose(sorted(roots.map(shownOf)))).to.deep.equal(loose(expectedOf(tree)));
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

  it('stores nothing for an unchanged tree', () => {
    const { mirror } = mirrored();
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

  const first = (readBack: () => PlainObject[]) => readBack()[0]?.variables[0];

  it('changes the type of a variable only if a value requires another type', () => {
    const { mirror, readBack } = mirrored();
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
      expect(first(readBack)?.type, inspect(value)).to.equal(type);
      expect(Number(first(readBack)?.value), inspect(value)).to.equal(Number(value));
    }
  });

  it('publishes a string completely each time it grows or shrinks', () => {
    const { mirror, readBack } = mirrored({ ...CAPACITY, frameBytes: 1 << 20 });
    for (const length of [0, 1, 40, 41, 1000, 30_000, 5]) {
      const text = 'ä'.repeat(length);
      show(mirror, object('r', [numeric(text, 'String')]));
      expect(first(readBack)?.value).to.deep.equal({ type: 'string', text });
    }
  });

  it('sets the state of all roots to auto_recovery when it is marked as stale, and to normal with the next tree', () => {
    const { mirror, readBack } = mirrored();
    const tree = [object('r', [], [object('s')]), object('t')];
    show(mirror, ...tree);
    mirror.markStale();
    expect(readBack().map(({ state }) => state)).to.deep.equal(['auto_recovery', 'auto_recovery']);
    expect(readBack()[0]?.children[0]?.state).to.equal('normal');
    show(mirror, ...tree);
    expect(readBack().map(({ state }) => state)).to.deep.equal(['normal', 'normal']);
  });

  it('removes all roots when it is cleared, and publishes the next tree as a new tree', () => {
    const { mirror, readBack } = mirrored();
    show(mirror, object('r', [], [object('s')]), object('t'));
    expect(mirror.clear()).to.equal(3);
    expect(readBack()).to.deep.equal([]);
    expect(mirror.clear()).to.equal(0);
    expect(show(mirror, object('r')).addedObjects).to.equal(1);
    expect(readBack()).to.have.lengthOf(1);
  });

  it('counts the items that do not fit, publishes the others, and publishes all items once they fit', () => {
    const { mirror, readBack, drops } = mirrored();
    const many = Array.from({ length: 700 }, (_, n) =>
      object(`s${n}`, [], [object(`s${n}.below`)]),
    );
    const { addedObjects, dropped } = show(mirror, object('r', [], many));
    expect(addedObjects + dropped).to.equal(1401);
    expect(dropped).to.be.above(800);
    expect(show(mirror, object('r', [], many)).dropped).to.equal(dropped);
    expect(drops().objects, 'not those of both trees').to.equal(dropped);
    expect(readBack()[0]?.isSynced).to.equal(true);
    const few = many.slice(0, 100);
    expect(show(mirror, object('r', [], few)).dropped).to.equal(0);
    expect(readBack()[0]?.children).to.have.lengthOf(100);
    for (const each of readBack()[0]?.children ?? []) expect(each.children).to.have.lengthOf(1);
  });

  it('never fills a small segment, even after thousands of changed trees', () => {
    const { mirror, readBack } = mirrored();
    for (let round = 0; round < 3000; round++) {
      const value = `${'x'.repeat(round % 300)}${round}`;
      const coming = object(`client.${round % 7}`, [
        numeric(value, 'String'),
        { Name: 'n', Type: 'Counter', Value: round },
      ]);
      const { dropped } = show(mirror, object('r', [], round % 2 === 0 ? [coming] : []));
      expect(dropped, `round ${round}`).to.equal(0);
    }
    expect(readBack()[0]?.children).to.have.lengthOf(0);
  });
});
