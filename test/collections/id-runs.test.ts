// Who owns each of very many ids, in few runs.
import fc from 'fast-check';
import { expect } from 'chai';
import { IdRuns } from '#app/collections/by-id.js';

interface Owner {
  readonly ids: Set<number>;
}

describe('runs of ids', () => {
  it('know the owner of each id that is there, whoever comes and goes', () =>
    fc.assert(
      fc.property(
        fc.infiniteStream(fc.nat(999)),
        fc.integer({ min: 1, max: 6 }),
        fc.boolean(),
        (picks, owners, isRestless) => {
          const all = Array.from({ length: owners }, (): Owner => ({ ids: new Set() }));
          const runs = new IdRuns<Owner>((owner, first, end) =>
            [...owner.ids].some((id) => id >= first && id < end),
          );
          const next = (): number => Number(picks.next().value);
          let id = 0;
          for (let step = 0; step < 1200; step++) {
            const owner = all[(isRestless ? next() : Math.floor(step / 7)) % owners];
            if (owner === undefined) continue;
            // An owner loses all its ids now and then: nobody needs their runs any more.
            if (next() % 3 === 0) owner.ids.clear();
            id += 1 + (next() % 3);
            runs.add(id, owner);
            owner.ids.add(id);
          }
          for (const owner of all)
            for (const each of owner.ids) expect(runs.get(each)).to.equal(owner);
        },
      ),
      { numRuns: 40 },
    ));
});
