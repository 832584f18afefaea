// The slots of names against a plain map, few and many of them.
import { expect } from 'chai';
import fc from 'fast-check';
import { NamedSlots } from '#app/exposition/rows/bound-object.js';

describe('the slots of names', () => {
  const step = (names: number) =>
    fc.tuple(
      fc.constantFrom('set', 'set', 'set', 'delete'),
      fc.nat({ max: names - 1 }),
      fc.nat({ max: 2 ** 24 }),
    );
  it('are those of each object, whether it has the names of the one before, others or another order', () =>
    fc.assert(
      fc.property(
        fc.array(fc.array(step(30), { maxLength: 60 }), { maxLength: 6 }),
        fc.boolean(),
        (objects, isInTurns) => {
          let like: NamedSlots | undefined;
          const made = objects.map((steps) => {
            const slots = (like = new NamedSlots(like));
            return { slots, plain: new Map<string, number>(), steps };
          });
          const all = made.flatMap((each) =>
            each.steps.map((what, turn) => ({ each, what, turn })),
          );
          // One object after the other, or all of them at once.
          if (isInTurns) all.sort((a, b) => a.turn - b.turn);
          for (const { each, what } of all) {
            const [kind, index, slot] = what;
            if (kind === 'delete') each.slots.delete(`v${index}`);
            else each.slots.set(`v${index}`, slot);
            if (kind === 'delete') each.plain.delete(`v${index}`);
            else each.plain.set(`v${index}`, slot);
          }
          for (const { slots, plain } of made) {
            for (let index = 0; index < 30; index++)
              expect(slots.get(`v${index}`)).to.equal(plain.get(`v${index}`));
            expect([...slots.values()].sort()).to.deep.equal([...plain.values()].sort());
          }
        },
      ),
      { numRuns: 100 },
    ));

  it('are those of many objects with the same names', () => {
    let like: NamedSlots | undefined;
    const made = Array.from({ length: 20 }, () => (like = new NamedSlots(like)));
    made.forEach((slots, object) => {
      for (let i = 0; i < 150; i++) slots.set(`v${i}`, object * 1000 + i);
    });
    made.forEach((slots, object) => {
      for (let i = 0; i < 150; i++) expect(slots.get(`v${i}`)).to.equal(object * 1000 + i);
      expect(slots.get('v150')).to.equal(undefined);
    });
  });

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
              slots.set(name, slot);
              plain.set(name, slot);
            }
          }
          for (let index = 0; index < names; index++)
            expect(slots.get(`v${index}`)).to.equal(plain.get(`v${index}`));
          expect([...slots.values()].sort()).to.deep.equal([...plain.values()].sort());
        }),
      ));
});
