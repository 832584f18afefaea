// The first of many items, against sorting them.
import { expect } from 'chai';
import fc from 'fast-check';
import { Ranking } from '#app/exposition/read/highlight.js';

describe('a ranking', () => {
  it('has the first of what was added and not taken away', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(60)), { size: '+1' }), (steps) => {
        const ranking = new Ranking<{ readonly id: number }>((a, b) => a.id < b.id);
        const there = new Set<number>();
        for (const [isAdded, id] of steps) {
          const item = { id };
          if (isAdded) ranking.add(item);
          else ranking.delete(item);
          if (isAdded) there.add(id);
          else there.delete(id);
          expect(ranking.first?.id).to.equal([...there].sort((a, b) => a - b)[0]);
        }
      }),
      { numRuns: 100 },
    ));
});
