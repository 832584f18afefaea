// The histogram of durations that internal metrics show.
import { expect } from 'chai';
import fc from 'fast-check';
import { BOUNDS_SECONDS, DurationHistogram } from '#app/exposition/duration-histogram.js';

const NAMED = { name: 'wait_seconds', help: 'Waits.' };

const shown = (durations: readonly number[]): ReadonlyMap<string, number> => {
  const histogram = new DurationHistogram();
  for (const ms of durations) histogram.add(ms);
  return new Map(
    histogram
      .series(NAMED)
      .map(({ suffix = '', labels, value }) => [suffix + (labels?.['le'] ?? ''), Number(value)]),
  );
};

describe('a histogram of durations', () => {
  const rows: readonly (readonly [what: string, ms: number, firstBucket: string])[] = [
    ['nothing', 0, '0.001'],
    ['a duration on a bound', 10, '0.01'],
    ['a duration just above a bound', 10.001, '0.1'],
    ['the longest bound', 10_000, '10'],
    ['a longer duration', 10_001, '+Inf'],
  ];
  for (const [what, ms, bucket] of rows)
    it(`counts ${what} in the buckets from ${bucket} on`, () => {
      const series = shown([ms]);
      const counting = [...BOUNDS_SECONDS.map(String), '+Inf'].filter(
        (bound) => series.get(`_bucket${bound}`) === 1,
      );
      expect(counting[0]).to.equal(bucket);
      expect(series.get('_sum')).to.equal(ms / 1000);
    });

  it('has cumulative buckets, whose last one is the count', () =>
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1e5, noNaN: true })), (durations) => {
        const series = shown(durations);
        for (const bound of BOUNDS_SECONDS) {
          const wanted = durations.filter((ms) => ms / 1000 <= bound).length;
          expect(series.get(`_bucket${bound}`)).to.equal(wanted);
        }
        expect(series.get('_bucket+Inf')).to.equal(durations.length);
        expect(series.get('_count')).to.equal(durations.length);
      }),
    ));
});
