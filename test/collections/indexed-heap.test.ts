// Tests IndexedHeap against sorting.
import { expect } from 'chai';
import fc from 'fast-check';
import { IndexedHeap } from '#app/collections/indexed-heap.js';

describe('IndexedHeap', () => {
  it('returns the first of the items that were added and not deleted', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(60)), { size: '+1' }), (steps) => {
        const heap = new IndexedHeap<{ readonly id: number }>((a, b) => a.id < b.id);
        const there = new Set<number>();
        for (const [isAdded, id] of steps) {
          const item = { id };
          if (isAdded) heap.add(item);
          else heap.delete(item);
          if (isAdded) there.add(id);
          else there.delete(id);
          expect(heap.first?.id).to.equal([...there].sort((a, b) => a - b)[0]);
        }
      }),
      { numRuns: 100 },
    ));
});
