// Tests SampleWindow against a list that is sorted for each query.
import { expect } from 'chai';
import fc from 'fast-check';
import { SampleWindow } from '#app/exposition/sample-window.js';

const NEWEST = 512;
const QS = [0, 0.5, 0.95, 0.99, 1];

/** Returns the quantiles of the newest samples by the nearest-rank method. */
function ranks(samples: readonly number[]): number[] {
  const sorted = samples.slice(-NEWEST).toSorted((a, b) => a - b);
  return QS.map((q) => sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0);
}

describe('a sample window', () => {
  it('returns the percentiles of the newest 512 samples and the mean of all samples', () =>
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.nat(5), fc.double({ min: 0, max: 1e6, noNaN: true })), {
          maxLength: 1400,
          size: 'max',
        }),
        (samples) => {
          const window = new SampleWindow();
          for (const sample of samples) window.add(sample);
          expect(window.percentiles(...QS)).to.deep.equal(ranks(samples));
          const sum = samples.reduce((all, each) => all + each, 0);
          expect(window.durations.mean).to.be.closeTo(
            sum / Math.max(1, samples.length),
            1e-6 * (1 + sum),
          );
        },
      ),
      { numRuns: 60 },
    ));
});
