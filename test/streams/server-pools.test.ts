// One pool for each format of a thread.
import { expect } from 'chai';
import { serverPools } from '#app/streams/server-pools.js';
import type { Watches } from '#app/streams/watch.js';
import { follow } from '../support/follow.js';
import { sighting } from '../support/sightings.js';

describe('serverPools', () => {
  const watching =
    (tick: number): Watches =>
    () => ({
      look: () => sighting({ tick }),
      wait: () => () => undefined,
      close: () => undefined,
    });
  const fresh = () =>
    serverPools(
      new Map([
        ['segment', watching(1)],
        ['toy', watching(2)],
      ]),
      {},
    );

  it('has one pool for all targets of a format', () => {
    const pools = fresh();
    expect(pools('toy')).to.equal(pools('toy'));
  });

  it('looks at each format through its own watch', () => {
    const pools = fresh();
    const ticks = ['segment', 'toy'].map((format) => {
      const { seen, subscription } = follow(pools(format).sighting$('82'));
      subscription.unsubscribe();
      return seen.map(({ tick }) => tick);
    });
    expect(ticks).to.deep.equal([[1], [2]]);
  });

  it('names a format that it does not know', () =>
    expect(() => fresh()('jvm')).to.throw('There is no format jvm'));
});
