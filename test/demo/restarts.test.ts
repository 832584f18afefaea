import { expect } from 'chai';
import { Restarts } from '#app/demo/processes.js';

describe('restarts of the demo', () => {
  it('are so many in any minute, and no more', () => {
    let now = 0;
    const restarts = new Restarts(2, () => now);
    const takeAt = (time: number) => {
      now = time;
      return restarts.take();
    };
    const takes = [0, 30_000, 59_999, 60_000, 60_001, 90_000].map(takeAt);
    expect(takes).to.deep.equal([true, true, false, true, false, true]);
  });
});
