// How much of each second the work for one target may take.
import { expect } from 'chai';
import fc from 'fast-check';
import { asyncScheduler, map } from 'rxjs';
import { Pace } from '#app/streams/pace.js';
import { RefreshQueue, inTurn } from '#app/streams/refresh-queue.js';
import { marbles } from '../support/marbles.js';

describe('Pace', () => {
  it('lets work begin at once as long as it owes nothing', () => {
    let begun = 0;
    const pace = new Pace(100, () => 0);
    pace.spend(100);
    expect(pace.whenFree(() => begun++)).to.equal(undefined);
    expect([begun, pace.pausedMs]).to.deep.equal([1, 0]);
  });

  it(
    'makes work wait until what is owed is paid back, and counts the wait',
    marbles(({ expectObservable, flush, cold }) => {
      // 250 ms of each second: 10 ms beyond it take 40 ms.
      const pace = new Pace(250, () => asyncScheduler.now());
      pace.spend(260);
      const begins: number[] = [];
      pace.whenFree(() => begins.push(asyncScheduler.now()));
      expectObservable(cold('100ms (a|)')).toBe('100ms (a|)');
      flush();
      expect([begins, pace.pausedMs]).to.deep.equal([[40], 40]);
    }),
  );

  it('lets work take no more than its share of any time, but for one second of it', () => {
    const share = fc.integer({ min: 50, max: 999 });
    const parts = fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { maxLength: 100 });
    fc.assert(
      fc.property(share, parts, (msPerSecond, jobs) => {
        let [nowMs, workedMs] = [0, 0];
        const pace = new Pace(msPerSecond, () => nowMs);
        for (const part of jobs) {
          const tookMs = part * msPerSecond;
          const before = pace.pausedMs;
          pace.whenFree(() => undefined)?.unsubscribe();
          nowMs += pace.pausedMs - before + tookMs;
          workedMs += tookMs;
          pace.spend(tookMs);
          expect(workedMs).to.be.at.most((nowMs * msPerSecond) / 1000 + msPerSecond + tookMs);
        }
      }),
    );
  });

  it('never makes work wait for longer than a second, however long other processes held it up', () => {
    const pace = new Pace(50, () => 0);
    pace.spend(60_000);
    pace.whenFree(() => undefined)?.unsubscribe();
    expect(pace.pausedMs).to.equal(1000);
  });

  it(
    'slows down who takes more than its share of a queue, and nobody else',
    marbles(({ hot, expectObservable }) => {
      const queue = new RefreshQueue(
        () => asyncScheduler.now(),
        (next) => void asyncScheduler.schedule(next, 1),
      );
      const pace = new Pace(10, () => asyncScheduler.now());
      pace.spend(10.1); // 0.1 ms more than a second's share: 10 ms to wait
      const greedy$ = hot(' -a------------------');
      const modest$ = hot(' -x--y---z-----------');
      const slowed = '      ----------a---------';
      const others = '      -x--y---z-----------';

      expectObservable(greedy$.pipe(inTurn(queue, () => undefined, { pace }))).toBe(slowed);
      expectObservable(
        modest$.pipe(
          inTurn(queue, () => undefined),
          map((each) => each),
        ),
      ).toBe(others);
    }),
  );

  it(
    'calls waiting work off for who leaves',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const queue = new RefreshQueue(() => asyncScheduler.now());
      const pace = new Pace(10, () => asyncScheduler.now());
      pace.spend(10.1);
      const event$ = hot('  -a--------------');
      const leaves = '      ----!           ';
      const turns = '       ----------------';
      const subscribed = '  ^---!           ';

      expectObservable(event$.pipe(inTurn(queue, () => undefined, { pace })), leaves).toBe(turns);
      expectSubscriptions(event$.subscriptions).toBe(subscribed);
    }),
  );
});
