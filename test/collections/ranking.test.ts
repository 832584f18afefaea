// Tests Ranking against sorting.
import { expect } from 'chai';
import fc from 'fast-check';
import { Ranking } from '#app/collections/ranking.js';

interface Item {
  readonly id: number;
  rank: number;
  position: number | undefined;
}

const isBefore = (a: Item, b: Item): boolean =>
  a.rank < b.rank || (a.rank === b.rank && a.id < b.id);

describe('Ranking', () => {
  it('lists the first items in order while items come, go and change their order', () =>
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(30), fc.option(fc.nat(9))), { size: '+1' }),
        fc.nat(12),
        (steps, count) => {
          const ranking = new Ranking<Item>(isBefore);
          const items = new Map<number, Item>();
          for (const [id, rank] of steps) {
            const item = items.get(id) ?? { id, rank: 0, position: undefined };
            if (rank === null) {
              ranking.delete(item);
              items.delete(id);
            } else {
              item.rank = rank;
              if (items.has(id)) ranking.update(item);
              else ranking.add(item);
              items.set(id, item);
            }
            const sorted = [...items.values()].sort((a, b) => (isBefore(a, b) ? -1 : 1));
            expect(ranking.firsts(count)).to.deep.equal(sorted.slice(0, count));
          }
        },
      ),
    ));
});
