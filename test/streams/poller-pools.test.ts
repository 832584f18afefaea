// Tests pollerPools: each thread has one pool per format.
import { expect } from 'chai';
import { pollerPools } from '#app/streams/poller-pool.js';
import { Scheduler } from '#app/streams/scheduler.js';
import type { PollerFactory } from '#app/streams/poller.js';
import { follow } from '../support/follow.js';
import { pollResult } from '../support/poll-results.js';

describe('the set of poller pools', () => {
  const watching =
    (notifications: number): PollerFactory =>
    () => ({
      poll: () => pollResult({ notifications }),
      wait: () => () => undefined,
      close: () => undefined,
    });
  const fresh = () =>
    pollerPools(
      new Map([
        ['segment', () => watching(1)],
        [
          'toy',
          (settings: Readonly<Record<string, unknown>>) => watching(Number(settings['first'] ?? 2)),
        ],
      ]),
      { tasks: new Scheduler() },
    );

  it('has one pool for all targets of a format', () => {
    const pools = fresh();
    expect(pools('toy')).to.equal(pools('toy'));
  });

  it('polls the segments of each format with the poller of the format', () => {
    const pools = fresh();
    const numbers = ['segment', 'toy'].map((format) => {
      const { seen, subscription } = follow(pools(format).open('82'));
      const numbers = seen.map(({ lastNew }) => lastNew.notifications);
      subscription.unsubscribe();
      return numbers;
    });
    expect(numbers).to.deep.equal([[1], [2]]);
  });

  it('has one pool for each combination of format settings', () => {
    const pools = fresh();
    const numbers = [{ first: 5 }, { first: 6 }, {}].map((settings) => {
      const pool = pools('toy', settings);
      const { seen, subscription } = follow(pool.open('82'));
      expect(pools('toy', { ...settings })).to.equal(pool);
      subscription.unsubscribe();
      return seen.map(({ lastNew }) => lastNew.notifications);
    });
    expect(numbers).to.deep.equal([[5], [6], [2]]);
  });

  it('drops the pool of format settings that no target uses any more', () => {
    const pools = fresh();
    const former = pools('toy', { first: 5 });
    pools('toy', { first: 6 });
    expect(pools('toy', { first: 5 })).not.to.equal(former);
  });

  it('names the format in the error if the format is unknown', () =>
    expect(() => fresh()('jvm')).to.throw('There is no format jvm'));
});
