// A set of numbers, and slots by name: the same as what JavaScript has for both.
import fc from 'fast-check';
import { expect } from 'chai';
import { Hashes } from '#app/collections/wide-map.js';
import { NamedSlots } from '#app/exposition/rows/named-slots.js';

describe('a set of hashes', () => {
  // Few of them, of two parts and with the same first place, so that all kinds of neighbours occur.
  const hash = fc.oneof(
    fc.nat(40).map((n) => n * 16),
    fc.nat(40).map((n) => n * 4096 + 7),
    fc.maxSafeNat(),
  );

  it('has what was added and not deleted', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), hash), { maxLength: 400 }), (steps) => {
        const hashes = new Hashes();
        const wanted = new Set<number>();
        for (const [isAdded, each] of steps)
          if (isAdded) {
            hashes.add(each);
            wanted.add(each);
          } else {
            hashes.delete(each);
            wanted.delete(each);
          }
        for (const [, each] of steps) expect(hashes.has(each)).to.equal(wanted.has(each));
      }),
      { numRuns: 300 },
    ));

  it('holds many', () => {
    const hashes = new Hashes();
    for (let i = 0; i < 100_000; i++) hashes.add(i * 91_009);
    for (let i = 0; i < 100_000; i += 2) hashes.delete(i * 91_009);
    const wrong = Array.from({ length: 100_000 }, (_, i) => i).filter(
      (i) => hashes.has(i * 91_009) !== (i % 2 === 1),
    );
    expect(wrong).to.deep.equal([]);
  });
});

describe('the slots of variables by name', () => {
  const name = fc.nat(140).map((n) => `v${n}`);

  it('are what was set last and not deleted, few or many', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.option(fc.nat())), { maxLength: 200 }), (steps) => {
        const slots = new NamedSlots();
        const wanted = new Map<string, number>();
        for (const [each, slot] of steps)
          if (slot === null) {
            slots.delete(each);
            wanted.delete(each);
          } else {
            slots.set(each, slot);
            wanted.set(each, slot);
          }
        for (const [each] of steps) expect(slots.get(each)).to.equal(wanted.get(each));
        expect([...slots.values()].sort()).to.deep.equal([...wanted.values()].sort());
      }),
      { numRuns: 300 },
    ));
});
