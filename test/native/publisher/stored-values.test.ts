// Tests the value of a variable before its first store, and the values that it refuses.
import { expect } from 'chai';
import type { Publisher } from '#app/native/publisher/publisher.js';
import type { PublishedObject } from '#app/native/publisher/publisher-options.js';
import { readTree } from '../../support/read-tree.js';
import { TINY, freshSegments } from '../../support/segments.js';

const U64 = 'integers from 0 to 18446744073709551615';
const I64 = 'integers from -9223372036854775808 to 9223372036854775807';
const BOOL = 'integers from 0 to 1';

describe('A scalar variable', () => {
  const segments = freshSegments();

  const SETS = [
    ['u64', -1, `Variable "v": found -1, allowed: ${U64}`],
    ['u64', -1n, `Variable "v": found -1, allowed: ${U64}`],
    ['u64', 1.5, `Variable "v": found 1.5, allowed: ${U64}`],
    ['u64', 2 ** 64, `Variable "v": found 18446744073709552000, allowed: ${U64}`],
    ['u64', 2n ** 70n, `Variable "v": found 1180591620717411303424, allowed: ${U64}`],
    ['u64', Number.NaN, `Variable "v": found NaN, allowed: ${U64}`],
    ['u64', Infinity, `Variable "v": found Infinity, allowed: ${U64}`],
    ['i64', 2 ** 63, `Variable "v": found 9223372036854776000, allowed: ${I64}`],
    ['i64', -(2n ** 63n) - 1n, `Variable "v": found -9223372036854775809, allowed: ${I64}`],
    ['i64', -0.5, `Variable "v": found -0.5, allowed: ${I64}`],
    ['bool', 2, `Variable "v": found 2, allowed: ${BOOL}`],
    ['bool', -1n, `Variable "v": found -1, allowed: ${BOOL}`],
    ['f64', '1' as unknown as number, 'Variable "v": found "1", allowed: numbers'],
    ['i64', '1' as unknown as number, `Variable "v": found "1", allowed: ${I64}`],
  ] as const;
  for (const [type, value, message] of SETS)
    it(`of type ${type} refuses the ${typeof value} ${String(value)}, and keeps its value`, () => {
      const { variable, seen } = one(type);
      variable.set(1);
      expect(() => variable.set(value)).to.throw(RangeError, message);
      expect(seen()).to.equal(type === 'f64' ? 1 : 1n);
    });

  const SUMS = [
    ['u64', 1, -2, `Variable "v": found -1, allowed: ${U64}`],
    ['u64', 2n ** 64n - 1n, 1, `Variable "v": found 18446744073709551616, allowed: ${U64}`],
    ['u64', 1, 0.5, 'Variable "v": found 0.5 to add, allowed: integers'],
    ['i64', 2n ** 63n - 1n, 1n, `Variable "v": found 9223372036854775808, allowed: ${I64}`],
    ['bool', 1, 1, `Variable "v": found 2, allowed: ${BOOL}`],
  ] as const;
  for (const [type, value, amount, message] of SUMS)
    it(`of type ${type} with value ${value} refuses the addition of ${amount}, and keeps its value`, () => {
      const { variable, seen } = one(type);
      variable.set(value);
      expect(() => variable.add(amount)).to.throw(RangeError, message);
      expect(seen()).to.equal(BigInt(value));
    });

  for (const [type, amounts] of [
    ['u64', [-1, -1n, Number.NaN]],
    ['i64', [-1, -(2n ** 63n), Number.NaN]],
    ['f64', [-0.5, Number.NaN, Infinity, -Infinity]],
  ] as const)
    it(`that is a ${type} counter refuses to fall by add(), and may fall by set()`, () => {
      const publisher = segments.publish('82');
      const root = publisher.addRoot('r', 'C');
      const counter = publisher.addVariable(root, 'v', type, { kind: 'counter' });
      const gauge = publisher.addVariable(root, 'w', 'f64', { kind: 'gauge' });
      counter.set(5);
      for (const amount of amounts)
        expect(() => counter.add(amount), String(amount)).to.throw(RangeError, 'Variable "v"');
      expect(() => counter.add(-1)).to.throw(
        RangeError,
        'Variable "v": found -1 to add, allowed: finite amounts from 0, since a counter does not fall',
      );
      counter.add(0);
      gauge.add(-1);
      const seen = () => {
        const { source } = segments.poller('82').poll();
        const [read] = source === undefined ? [] : readTree(source, TINY.slots);
        return Number(read?.variables[0]?.value);
      };
      expect(seen()).to.equal(5);
      counter.set(1);
      expect(seen()).to.equal(1);
    });

  it('stays unsynced after a refused store', () => {
    const { variable, seen } = one('u64');
    expect(() => variable.set(-1)).to.throw(RangeError);
    expect(seen()).to.equal(undefined);
  });

  const HELD = [
    ['u64', 2n ** 64n - 1n, 2n ** 64n - 1n],
    ['u64', 2 ** 63, 2n ** 63n],
    ['u64', -0, 0n],
    ['i64', -(2 ** 63), -(2n ** 63n)],
    ['bool', true, 1n],
    ['f64', 2n ** 70n, 2 ** 70],
    ['f64', Number.NaN, Number.NaN],
  ] as const;
  for (const [type, value, kept] of HELD)
    it(`of type ${type} accepts ${String(value)}`, () => {
      const { variable, seen } = one(type);
      variable.set(value);
      expect(seen()).to.deep.equal(kept);
    });

  it('of type u64 adds positive and negative amounts to a value above 2^63', () => {
    const { variable, seen } = one('u64');
    variable.set(2n ** 63n);
    variable.add(2n);
    variable.add(-1);
    expect(seen()).to.equal(2n ** 63n + 1n);
  });

  /** Publishes a variable, and returns it with the value that a reader sees. */
  function one(type: 'u64' | 'i64' | 'f64' | 'bool') {
    const publisher = segments.publish('82');
    const variable = publisher.addVariable(publisher.addRoot('r', 'C'), 'v', type);
    return { variable, seen: () => valuesOf('82')['v'] };
  }

  function valuesOf(serverKey: string): Record<string, unknown> {
    const { source } = segments.poller(serverKey).poll();
    const [root] = source === undefined ? [] : readTree(source, TINY.slots);
    return Object.fromEntries(root?.variables.map(({ name, value }) => [name, value]) ?? []);
  }
});

describe('Histograms and summaries', () => {
  const segments = freshSegments();
  const seen = () => {
    const { source } = segments.poller('82').poll();
    const [root] = source === undefined ? [] : readTree(source, TINY.slots);
    return Object.fromEntries(root?.variables.map(({ name, value }) => [name, value]) ?? []);
  };
  /** A missing value. TypeScript refuses it as an argument, but a JavaScript program can pass it. */
  const anything = undefined as unknown as never;
  const publishRoot = (add: (publisher: Publisher, root: PublishedObject) => void) => {
    const publisher = segments.publish('82');
    add(publisher, publisher.addRoot('r', 'C'));
  };

  it('begin synced and without observations, so that no exporter waits for the first observation', () => {
    publishRoot((publisher, root) => {
      publisher.addVariable(root, 'delay', 'histogram', { schema: [1, 2] });
      publisher.addVariable(root, 'size', 'summary', { schema: [0.5, 0.9] });
    });
    expect(seen()).to.deep.equal({
      delay: { type: 'histogram', sum: 0, counts: new BigUint64Array(3) },
      size: { type: 'summary', count: 0n, sum: 0, values: Float64Array.of(NaN, NaN) },
    });
  });

  it('begin unsynced if the publisher requests this; all other types begin unsynced by default', () => {
    publishRoot((publisher, root) => {
      publisher.addVariable(root, 'delay', 'histogram', { schema: [1], synced: false });
      publisher.addVariable(root, 'size', 'summary', { schema: [0.5], synced: false });
      publisher.addVariable(root, 'name', 'string');
      publisher.addVariable(root, 'sent', 'u64');
      publisher.addVariable(root, 'zero', 'u64', { synced: true });
      publisher.addVariable(root, 'empty', 'string', { synced: true });
    });
    expect(seen()).to.deep.equal({
      ...{ delay: undefined, size: undefined, name: undefined, sent: undefined },
      ...{ zero: 0n, empty: { type: 'string', text: '' } },
    });
  });

  it('begin at zero in the reused slot and frame of a removed variable', () => {
    publishRoot((publisher, root) => {
      const before = publisher.addVariable(root, 'before', 'histogram', { schema: [1, 2] });
      before.set([7, 8, 9], 99);
      publisher.removeVariable(before);
      publisher.addVariable(root, 'delay', 'histogram', { schema: [1, 2] }).observe(2);
    });
    const counts = BigUint64Array.of(0n, 1n, 0n);
    expect(seen()).to.deep.equal({ delay: { type: 'histogram', sum: 2, counts } });
  });

  it('refuse invalid counts, numbers and texts, and keep their values', () => {
    publishRoot((publisher, root) => {
      const delay = publisher.addVariable(root, 'delay', 'histogram', { schema: [1] });
      const size = publisher.addVariable(root, 'size', 'summary', { schema: [0.5] });
      const region = publisher.addVariable(root, 'region', 'string');
      delay.set([1, 2], 3);
      size.set(1, 2, [3]);
      region.set('north');
      const refused: readonly (readonly [() => boolean, string])[] = [
        [() => delay.set([1, -1], 0), `Variable "delay": found the count -1, allowed: ${U64}`],
        [() => delay.set([1.5, 0], 0), `Variable "delay": found the count 1.5, allowed: ${U64}`],
        [
          () => delay.set([1n, 2n ** 64n], 0),
          `found the count 18446744073709551616, allowed: ${U64}`,
        ],
        [
          () => delay.set([1], 0),
          'Variable "delay": found 1 counts, allowed: 2, one for each bucket',
        ],
        [
          () => delay.set([1, 2, 3], 0),
          'Variable "delay": found 3 counts, allowed: 2, one for each bucket',
        ],
        [
          () => delay.observe(NaN),
          'Variable "delay": found NaN, allowed: numbers, since no bucket counts NaN',
        ],
        [() => size.set(-1, 0, [0]), `Variable "size": found the count -1, allowed: ${U64}`],
        [
          () => size.set(1, 0, []),
          'Variable "size": found 0 values, allowed: 1, one for each quantile',
        ],
        [() => delay.set([1, 2], anything), 'Variable "delay": found nothing, allowed: numbers'],
        [() => size.set(1, anything, [1]), 'Variable "size": found nothing, allowed: numbers'],
        [() => size.set(1, 1, [anything]), 'Variable "size": found nothing, allowed: numbers'],
        [() => region.set(anything), 'Variable "region": found nothing, allowed: strings'],
      ];
      for (const [store, message] of refused) expect(store).to.throw(RangeError, message);
    });
    expect(seen()).to.deep.equal({
      delay: { type: 'histogram', sum: 3, counts: BigUint64Array.of(1n, 2n) },
      size: { type: 'summary', count: 1n, sum: 2, values: Float64Array.of(3) },
      region: { type: 'string', text: 'north' },
    });
  });

  it('are refused if the schema does not fit the type', () => {
    publishRoot((publisher, root) => {
      const refused: readonly (readonly [() => unknown, string])[] = [
        [
          () => publisher.addVariable(root, 'v', 'u64', { schema: [1] }),
          'addVariable: schema: found 1, allowed: none for type u64',
        ],
        [
          () => publisher.addVariable(root, 'v', 'summary', { schema: [1.5] }),
          'addVariable: schema: found 1.5, allowed: quantiles from 0 to 1',
        ],
      ];
      for (const [add, message] of refused) expect(add).to.throw(RangeError, message);
    });
    expect(seen()).to.deep.equal({});
  });
});

describe('An object id', () => {
  const segments = freshSegments();
  const idsBelowRoot = () => {
    const { source } = segments.poller('82').poll();
    const [root] = source === undefined ? [] : readTree(source, TINY.slots);
    return root?.children.map(({ name }) => name);
  };

  for (const id of [
    '',
    'till',
    'shop.1',
    'h.1.shop',
    'h.1.shop.',
    'h.1.shopper.till',
    'H.1.shop.a',
  ])
    it(`${id === '' ? 'without characters' : `"${id}"`} below h.1.shop is refused, and nothing is published`, () => {
      const publisher = segments.publish('82');
      const root = publisher.addRoot('h.1.shop', 'Shop');
      expect(() => publisher.addObject(root, id, 'Till')).to.throw(
        RangeError,
        `addObject: name: found "${id}" below "h.1.shop", allowed: "h.1.shop", a dot, and at least one more character`,
      );
      const { drops } = segments.poller('82').poll();
      expect([idsBelowRoot(), drops.objects]).to.deep.equal([[], 0]);
    });

  it('may add several parts to the id of its parent, and may end with a dot', () => {
    const publisher = segments.publish('82');
    const root = publisher.addRoot('h.1.shop', 'Shop');
    const ids = ['h.1.shop.0.till.1.drawer', 'h.1.shop.trailing.', 'h.1.shop..'];
    for (const id of ids) publisher.addObject(root, id, 'Till');
    expect(idsBelowRoot()).to.deep.equal(ids);
  });

  it('need not begin with the id of its parent if the option foreignId is true', () => {
    const publisher = segments.publish('82');
    const root = publisher.addRoot('h.1.shop', 'Shop');
    publisher.addObject(root, 'elsewhere', 'Till', { foreignId: true });
    expect(idsBelowRoot()).to.deep.equal(['elsewhere']);
  });
});
