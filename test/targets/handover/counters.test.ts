// The counters of a target while its partition and its definition change. Spec 2.5.
import { expect } from 'chai';
import { COUNTERS, COUNTER_NAMES } from '#app/exposition/counters.js';
import { ServedTarget } from '#app/targets/served-target.js';
import { definitionOf } from '../../support/definition-of.js';
import { FakePartition } from '../../support/fake-partition.js';
import { follow } from '../../support/follow.js';
import { VirtualClock } from '../../support/virtual-clock.js';

describe('the counters of a target that moves and is redefined:', () => {
  for (const name of COUNTER_NAMES) {
    const { kind, metric } = COUNTERS[name];
    const isEvent = kind === 'event';
    it(`${metric} keeps its value, and counts ${isEvent ? 'every event' : 'each condition once per definition'}`, () => {
      const [first, second, third] = [0, 1, 2].map((number) => new FakePartition(number));
      if (!first || !second || !third) throw new Error('expected three partitions');
      first.isReady = true;
      const target = new ServedTarget({
        definition: definitionOf(),
        partition: first,
        rebalances: { moves: 0, lastMs: 0 },
        unixMs: () => 0,
        nowMs: () => 0,
        scheduler: new VirtualClock(),
      });
      const { subscription } = follow(target.run());
      /** Returns the value of the metric after this partition reported that it counted `counted`. */
      const after = (partition: FakePartition, counted: number) => {
        partition.refresh('82', 0, { [name]: counted });
        return target.internal().find((each) => each.name === metric)?.value;
      };
      expect(after(first, 3)).to.equal(3);

      follow(target.change({ partition: second }));
      expect(after(second, 2), 'before the move').to.equal(isEvent ? 5 : 3);
      second.isReady = true;
      expect(after(second, 0)).to.equal(isEvent ? 5 : 3);
      expect(target.status().partition).to.equal(1);
      expect(after(second, 1), 'after the move').to.equal(isEvent ? 6 : 4);

      // A new definition may omit other items. So after a reload, conditions such as omitted items are counted again.
      follow(target.change({ partition: third, definition: definitionOf() }));
      expect(after(third, 4), 'before the reload').to.equal(isEvent ? 10 : 8);
      third.isReady = true;
      after(third, 0);
      expect(target.status().partition).to.equal(2);
      expect(after(third, 1), 'after the reload').to.equal(isEvent ? 11 : 9);
      subscription.unsubscribe();
    });
  }
});
