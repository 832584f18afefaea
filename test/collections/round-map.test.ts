// A map that is asked for its keys in rounds.
import fc from 'fast-check';
import { expect } from 'chai';
import { RoundMap } from '#app/collections/round-map.js';

describe('a map that is asked in rounds', () => {
  it('has what a map has, in whatever order it is asked', () => {
    const keys = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ get: fc.array(keys, { maxLength: 12 }) }) },
      { weight: 2, arbitrary: fc.record({ set: keys, value: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ remove: keys }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const map = new RoundMap<string, number>();
        const model = new Map<string, number>();
        for (const each of steps) {
          if ('set' in each) {
            map.set(each.set, each.value);
            model.set(each.set, each.value);
          } else if ('remove' in each)
            expect(map.delete(each.remove)).to.equal(model.delete(each.remove));
          else for (const key of each.get) expect(map.get(key)).to.equal(model.get(key));
        }
        expect([...map]).to.have.deep.members([...model]);
      }),
    );
  });

  it('asks the map behind it for a key of the first round, and no more', () => {
    let asked = 0;
    class Counting<K, V> extends Map<K, V> {
      override get(key: K): V | undefined {
        asked++;
        return super.get(key);
      }
    }
    const map = new RoundMap<object, number>(new Counting());
    const keys = [{}, {}, {}];
    for (const [value, key] of keys.entries()) map.set(key, value);
    const round = () => keys.map((key) => [map.get(key), map.get(key)]);
    asked = 0;
    round();
    expect(asked).to.equal(3);
    // That the first one follows the last one is seen once.
    round();
    expect(asked).to.equal(4);
    expect([round(), round()].flat(2)).to.deep.equal([0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
    expect(asked).to.equal(4);
  });
});
