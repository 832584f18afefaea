// Counters on their way from a view to the internal metrics.
import { expect } from 'chai';
import { addCounts, diffOf, newCounters } from '#app/exposition/counters.js';

describe('counters', () => {
  it('arrive whole in the sum of all differences', () => {
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
