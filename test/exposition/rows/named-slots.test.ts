// The slots of names against a plain map, few and many of them.
import { expect } from 'chai';
import fc from 'fast-check';
import { NamedSlots } from '#app/exposition/rows/named-slots.js';

describe('the slots of names', () => {
  const step = (names: number) =>
    fc.tuple(
      fc.constantFrom('set', 'set', 'set', 'delete'),
      fc.nat({ max: names - 1 }),
      fc.nat({ max: 2 ** 24 }),
    );
  for (const names of [5, 300])
    it(`are what was set and not deleted, for up to ${names} names`, () =>
      fc.assert(
        fc.property(fc.array(step(names), { maxLength: 3 * names }), (steps) => {
          const [slots, plain] = [new NamedSlots(), new Map<string, number>()];
          for (const [what, index, slot] of steps) {
            const name = `v${index}`;
            if (what === 'delete') {
              slots.delete(name);
              plain.delete(name);
            } else {
              if (plain.has(name)) slots.set(name, slot);
              else slots.add(name, slot);
              plain.set(name, slot);
            }
          }
          for (let index = 0; index < names; index++)
            expect(slots.get(`v${index}`)).to.equal(plain.get(`v${index}`));
          expect([...slots.values()].sort()).to.deep.equal([...plain.values()].sort());
        }),
      ));
});
