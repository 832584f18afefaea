// Counter differences that a view reports to the internal metrics.
import { expect } from 'chai';
import { addCounts, diffOf, newCounters } from '#app/exposition/counters.js';

describe('the reported increments of counters', () => {
  it('add up to the counter values', () => {
    const [counters, sum] = [newCounters(), newCounters()];
    let reported = { ...counters };
    for (const clashes of [2, 0, 3]) {
      counters.clashes += clashes;
      counters.staleFrames++;
      addCounts(sum, diffOf(counters, reported));
      reported = { ...counters };
    }
    expect(sum).to.deep.equal({ ...newCounters(), clashes: 5, staleFrames: 3 });
  });
});
