// Tests the counter differences that a view reports to the internal metrics.
import { expect } from 'chai';
import { COUNTER_NAMES, addCounts, diffOf, newCounters } from '#app/exposition/counters.js';

describe('the reported increments of counters', () => {
  for (const name of COUNTER_NAMES)
    it(`add up to the value of the counter ${name}`, () => {
      const [counters, sum] = [newCounters(), newCounters()];
      let reported = { ...counters };
      for (const increment of [2, 0, 3]) {
        counters[name] += increment;
        addCounts(sum, diffOf(counters, reported));
        reported = { ...counters };
      }
      expect(sum).to.deep.equal({ ...newCounters(), [name]: 5 });
    });
});
