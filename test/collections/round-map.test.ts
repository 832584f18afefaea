// A map that is asked for its keys in rounds.
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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

  /** One key stays and is not asked for again; `others` come and go in their order, so many at a time. */
  for (const others of [1, 2, 3])
    it(`keeps nothing of what was deleted, ${others} at a time`, async () => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const STAYS = 1000;
      const map = new RoundMap<number, object>();
      map.set(STAYS, {});
      map.get(STAYS);
      const gone: WeakRef<object>[] = [];
      const LAST = 100;
      for (let key = 0; key < LAST + others; key++) {
        const value = { key };
        if (key < LAST) {
          gone.push(new WeakRef(value));
          map.set(key, value);
          map.get(key);
        }
        map.delete(key - others);
      }
      const left = () => gone.filter((each) => each.deref() !== undefined).length;
      for (let turn = 0; turn < 20; turn++) {
        collect();
        await setImmediate();
      }
      // The map is still there: what is expected after the key that stayed may be left.
      expect(map.get(LAST)).to.equal(undefined);
      expect(left()).to.be.at.most(1);
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
