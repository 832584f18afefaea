// A map that grows in small steps.
import { expect } from 'chai';
import fc from 'fast-check';
import { WideMap } from '#app/collections/wide-map.js';

describe('a wide map', () => {
  it('has what a map has, few entries or many', () => {
    const range = fc.record({
      isSet: fc.boolean(),
      first: fc.nat(20_000),
      count: fc.nat(6000),
      every: fc.constantFrom(1, 7, 251, 2 ** 32 + 1),
    });
    fc.assert(
      fc.property(fc.array(range, { maxLength: 5 }), (ranges) => {
        const wide = new WideMap<number>();
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

  it('rejects a key that is not a whole number from 0 on, once there are many', () => {
    const wide = new WideMap<number>();
    for (let key = 0; key < 5000; key++) wide.set(key, key);
    expect(() => wide.get(-1)).to.throw(RangeError);
    expect(() => wide.get(0.5)).to.throw(RangeError);
  });
});
