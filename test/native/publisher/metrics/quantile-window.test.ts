// Tests the sliding window of the quantiles of a summary.
import { expect } from 'chai';
import { QuantileWindow } from '#app/native/publisher/metrics/quantile-window.js';

describe('The window of a summary', () => {
  const median = (window: QuantileWindow, nowMs: number): number | undefined =>
    window.values([0.5], nowMs)[0];

  it('has all observations if it has no length', () => {
    const window = new QuantileWindow(undefined, undefined, 0);
    window.push(1, 0);
    window.push(3, 1e12);
    expect(median(window, 2e12)).to.equal(2);
  });

  it('forgets observations step by step', () => {
    const window = new QuantileWindow(10, 5, 0);
    window.push(100, 500);
    window.push(1, 8500);
    expect(median(window, 9000)).to.equal(50.5);
    expect(median(window, 10_100)).to.equal(1);
    expect(window.isEmpty(17_000)).to.equal(false);
    expect(window.isEmpty(18_100)).to.equal(true);
    expect(median(window, 18_100)).to.equal(0);
  });

  it('is empty after a pause that is longer than its length, and works afterwards', () => {
    const window = new QuantileWindow(10, 5, 0);
    window.push(100, 500);
    expect(window.isEmpty(1e9)).to.equal(true);
    window.push(3, 1e9);
    expect(median(window, 1e9 + 7000)).to.equal(3);
    expect(window.isEmpty(1e9 + 12_100)).to.equal(true);
  });
});
