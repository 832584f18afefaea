// Tests ById and FifoQueue.
import { expect } from 'chai';
import fc from 'fast-check';
import { FifoQueue, ById } from '#app/collections/by-id.js';

interface Item {
  readonly id: number;
}

/** More items than a part of 512 holds. */
const MANY = 3000;

describe('ById', () => {
  it('contains the items that were added and not deleted, in the order of their ids', () => {
    const step = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 700 }) }),
      fc.record({ deleteEach: fc.integer({ min: 1, max: 4 }), from: fc.nat(MANY) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const items = new ById<Item>();
        const expected = new Map<number, Item>();
        let id = 0;
        for (const each of steps) {
          if ('add' in each)
            for (let i = 0; i < each.add; i++) {
              const item = { id: (id += 1 + (i % 3)) };
              items.add(item);
              expected.set(item.id, item);
            }
          else
            for (let at = each.from; at < id + 2; at += each.deleteEach)
              expect(items.delete(at)).to.equal(expected.delete(at));
        }
        expect([...items]).to.deep.equal([...expected.values()]);
        expect(items.size).to.equal(expected.size);
        for (let at = 0; at < id + 2; at++) expect(items.get(at)).to.equal(expected.get(at));
      }),
      { numRuns: 20 },
    );
  });

  it('contains only the added item, not another item with the same id', () => {
    const items = new ById<Item>();
    const item = { id: 1 };
    items.add(item);
    expect([items.has(item), items.has({ id: 1 })]).to.deep.equal([true, false]);
  });

  it('iterates over each item once, while further items are added and deleted', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(MANY), { maxLength: 60 }), fc.nat(600), (deleted, pace) => {
        const items = new ById<Item>();
        for (let id = 0; id < MANY; id++) items.add({ id });
        const seen: number[] = [];
        const gone: number[] = [];
        const waiting = [...deleted];
        for (const { id } of items) {
          seen.push(id);
          if (seen.length % (pace + 1) !== 0) continue;
          const next = waiting.pop();
          if (next !== undefined && items.delete(next) && next > id) gone.push(next);
          if (seen.length < 2 * MANY) items.add({ id: 2 * MANY + seen.length });
        }
        const late = [...items].map(({ id }) => id).filter((id) => id >= 2 * MANY);
        const early = Array.from({ length: MANY }, (_, id) => id);
        expect(seen).to.deep.equal([...early.filter((id) => !gone.includes(id)), ...late]);
      }),
      { numRuns: 30 },
    );
  });
});

describe('FifoQueue', () => {
  it('returns items in the order in which they were added', () => {
    const backlog = new FifoQueue<number>();
    for (const item of [3, 1, 3, 2]) backlog.add(item);
    const taken = [backlog.next(), backlog.next()];
    for (const item of [3, 2]) backlog.add(item);
    while (backlog.size > 0) taken.push(backlog.next());
    expect(taken).to.deep.equal([3, 1, 3, 2, 3, 2]);
    expect(backlog.next()).to.equal(undefined);
    backlog.add(4);
    expect([backlog.next(), backlog.next()]).to.deep.equal([4, undefined]);
  });

  it('is empty after it is cleared', () => {
    const backlog = new FifoQueue<number>();
    for (const item of [1, 2, 3]) backlog.add(item);
    backlog.next();
    backlog.clear();
    expect([backlog.size, backlog.next()]).to.deep.equal([0, undefined]);
  });

  it('returns half a million items in linear time', () => {
    const backlog = new FifoQueue<number>();
    for (let item = 0; item < 500_000; item++) backlog.add(item);
    let sum = 0;
    for (let item = backlog.next(); item !== undefined; item = backlog.next()) sum += item;
    expect(sum).to.equal((500_000 * 499_999) / 2);
  });
});
