// Slots are given away with a new incarnation each time, the one that was free longest first.
import { expect } from 'chai';
import fc from 'fast-check';
import { SlotAllocator } from '#app/native/publisher/allocators.js';
import type { SlotRef } from '#app/model.js';

describe('SlotAllocator', () => {
  it('gives fresh slots in order, then none', () => {
    const slots = new SlotAllocator(2);
    expect([slots.take(), slots.take(), slots.take()]).to.deep.equal([
      { slot: 0, incarnation: 1 },
      { slot: 1, incarnation: 1 },
      undefined,
    ]);
  });

  it('gives the slot that has been free longest, with its next incarnation', () => {
    const slots = new SlotAllocator(3);
    const refs = [slots.take(), slots.take(), slots.take()].filter((ref) => ref !== undefined);
    expect(
      [2, 0, 1].map((slot) => slots.give(refs[slot] ?? { slot, incarnation: 0 })),
    ).to.deep.equal([2, 2, 2]);
    expect([slots.take(), slots.take(), slots.take()].map((ref) => ref?.slot)).to.deep.equal([
      ...[2, 0, 1],
    ]);
  });

  it('spares fresh slots once enough others rest', () => {
    const slots = new SlotAllocator(1000);
    const first = Array.from({ length: 65 }, () => slots.take());
    for (const ref of first) if (ref !== undefined) slots.give(ref);
    expect(slots.take()).to.deep.equal({ slot: 0, incarnation: 2 });
    expect(slots.take(), '64 rest, so that none of them is needed').to.deep.equal({
      ...{ slot: 65, incarnation: 1 },
    });
  });

  it('wraps incarnations from 2^31 - 1 to 1', () => {
    const slots = new SlotAllocator(1);
    slots.take();
    expect(slots.give({ slot: 0, incarnation: 0x7ffffffe })).to.equal(0x7fffffff);
    expect(slots.give({ slot: 0, incarnation: 0x7fffffff })).to.equal(1);
  });

  it('never gives a slot twice, nor an incarnation again, and all of them when asked', () => {
    const life = fc.array(fc.nat(100), { minLength: 1, maxLength: 3000, size: 'max' });
    const property = fc.property(fc.integer({ min: 1, max: 150 }), life, (capacity, picks) => {
      const slots = new SlotAllocator(capacity);
      const taken: SlotRef[] = [];
      const incarnations = new Map<number, number>();
      for (const pick of picks)
        if (pick < 55) {
          const ref = slots.take();
          expect(ref === undefined).to.equal(taken.length === capacity);
          if (ref === undefined) continue;
          expect(ref.slot).to.be.within(0, capacity - 1);
          expect(taken.some(({ slot }) => slot === ref.slot)).to.equal(false);
          expect(ref.incarnation).to.equal((incarnations.get(ref.slot) ?? 0) + 1);
          incarnations.set(ref.slot, ref.incarnation);
          taken.push(ref);
        } else {
          const [ref] = taken.splice(pick % Math.max(taken.length, 1), 1);
          if (ref !== undefined) slots.give(ref);
        }
    });
    fc.assert(property, { numRuns: 20 });
  });
});
