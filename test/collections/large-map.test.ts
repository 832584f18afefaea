// Tests LargeMap and NumberSet against Map and Set.
import { expect } from 'chai';
import fc from 'fast-check';
import { NumberSet, LargeMap } from '#app/collections/large-map.js';

describe('LargeMap', () => {
  it('behaves like a Map with few and with many entries', () => {
    const range = fc.record({
      isSet: fc.boolean(),
      first: fc.nat(20_000),
      count: fc.nat(6000),
      every: fc.constantFrom(1, 7, 251, 2 ** 32 + 1),
    });
    fc.assert(
      fc.property(fc.array(range, { maxLength: 5 }), (ranges) => {
        const wide = new LargeMap<number>();
        const plain = new Map<number, number>();
        ranges.forEach(({ isSet, first, count, every }, round) => {
          for (let i = 0; i < count; i++) {
            const key = first + i * every;
            if (wide.get(key) !== plain.get(key)) expect.fail(`${key} differs before`);
            if (isSet) {
              wide.set(key, round);
              plain.set(key, round);
            } else expect(wide.delete(key)).to.equal(plain.delete(key));
            if (wide.has(key) !== plain.has(key) || wide.get(key) !== plain.get(key))
              expect.fail(`${key} differs after`);
          }
        });
        const ascending = (a: number, b: number): number => a - b;
        expect([...wide.keys()].toSorted(ascending)).to.deep.equal(
          [...plain.keys()].toSorted(ascending),
        );
        expect([...wide.values()]).to.have.length(plain.size);
        expect(wide.size).to.equal(plain.size);
        for (const [key, value] of plain)
          if (wide.get(key) !== value || !wide.has(key)) expect.fail(`${key} differs`);
      }),
      { numRuns: 30 },
    );
  });

  it('rejects a negative or fractional key once it has many entries', () => {
    const wide = new LargeMap<number>();
    for (let key = 0; key < 5000; key++) wide.set(key, key);
    expect(() => wide.get(-1)).to.throw(RangeError);
    expect(() => wide.get(0.5)).to.throw(RangeError);
  });
});

describe('NumberSet', () => {
  // Only a few different low bits, so that hashes collide in every possible way.
  const hash = fc.oneof(
    fc.nat(40).map((n) => n * 16),
    fc.nat(40).map((n) => n * 4096 + 7),
    fc.maxSafeNat(),
  );

  it('contains the numbers that were added and not deleted', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), hash), { maxLength: 400 }), (steps) => {
        const hashes = new NumberSet();
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
      { numRuns: 60 },
    ));

  it('contains many numbers', () => {
    const hashes = new NumberSet();
    for (let i = 0; i < 100_000; i++) hashes.add(i * 91_009);
    for (let i = 0; i < 100_000; i += 2) hashes.delete(i * 91_009);
    const wrong = Array.from({ length: 100_000 }, (_, i) => i).filter(
      (i) => hashes.has(i * 91_009) !== (i % 2 === 1),
    );
    expect(wrong).to.deep.equal([]);
  });
});
