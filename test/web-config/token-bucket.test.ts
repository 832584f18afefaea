// How many requests a rate limit lets in.
import { expect } from 'chai';
import fc from 'fast-check';
import { TokenBucket } from '#app/web-config/passwords.js';

describe('TokenBucket', () => {
  let nowMs = 0;
  const bucket = (intervalMs: number, burst: number) =>
    new TokenBucket(intervalMs, burst, () => nowMs);
  const takes = (from: TokenBucket, count: number) =>
    Array.from({ length: count }, () => from.take());

  it('lets a burst in, then one each interval', () => {
    const limited = bucket(100, 2);
    expect(takes(limited, 3)).to.deep.equal([true, true, false]);
    nowMs += 99;
    expect(limited.take()).to.equal(false);
    nowMs += 1;
    expect(takes(limited, 2)).to.deep.equal([true, false]);
  });

  it('fills up to a burst, however long nobody asked', () => {
    const limited = bucket(100, 2);
    takes(limited, 2);
    nowMs += 1e9;
    expect(takes(limited, 3)).to.deep.equal([true, true, false]);
  });

  it('lets everybody in without an interval', () =>
    expect(takes(bucket(0, 1), 100)).to.not.include(false));

  it('lets in no more than the burst and what the time adds, whenever they ask', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat({ max: 100 }), { maxLength: 100 }),
        (intervalMs, burst, waits) => {
          const startMs = nowMs;
          const limited = bucket(intervalMs, burst);
          let taken = 0;
          for (const wait of waits) {
            nowMs += wait;
            if (limited.take()) taken++;
          }
          const most = burst + (nowMs - startMs) / intervalMs;
          expect(taken).to.be.at.most(most + 1e-6);
        },
      ),
    ));
});
