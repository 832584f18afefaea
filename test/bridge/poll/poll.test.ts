// Tests the steps, the schedule and the outcomes of polls. fetch-body.test.ts covers real connections.
import { expect } from 'chai';
import { VirtualTimeScheduler, asyncScheduler, map, of, timer } from 'rxjs';
import { poll, polling, standing } from '#app/bridge/poll/poll.js';
import type { PollOutcome } from '#app/bridge/poll/poll.js';
import { marbles } from '../../support/marbles.js';

describe('a poll', () => {
  it('yields to the event loop after it parses the answer, and again after it reads the tree', () => {
    const scheduler = new VirtualTimeScheduler();
    const bytes = Buffer.from('[{"Instance":"h.1.a","Class":"C"}]');
    const outcomes: PollOutcome[] = [];
    const limits = { maxObjects: 10, maxVariables: 10, maxDepth: 4, requestTimeoutMs: 1000 };
    const clocks = { unixMs: () => 7, steadyMs: () => scheduler.now(), scheduler };
    poll(() => of({ bytes, received: bytes.length }), limits, clocks).subscribe({
      next: (outcome) => outcomes.push(outcome),
      error: (error: unknown) => expect.fail(String(error)),
    });
    expect(outcomes, 'with the last of the body').to.deep.equal([]);
    scheduler.actions.shift()?.execute(undefined, 0);
    expect(outcomes, 'a turn later').to.deep.equal([]);
    scheduler.flush();
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['tree']);
    expect(scheduler.now(), 'ms that it waited').to.equal(0);
  });
});

// Tests polling(), which schedules the polls of a component.
describe('polling', () => {
  const pace = { intervalMs: 4, maxBackOffMs: 16 };
  const hasFailed = (outcome: string) => outcome === 'x';
  /** Creates polls with given durations and outcomes. */
  const scripted = (...polls: readonly (readonly [tookMs: number, outcome: string])[]) => {
    let next = 0;
    const begun: number[] = [];
    return {
      begun,
      poll: () => {
        const [tookMs, outcome] = polls[next++] ?? [0, 'o'];
        begun.push(asyncScheduler.now());
        return timer(tookMs).pipe(map(() => outcome));
      },
    };
  };

  it(
    'polls at once, and then one interval after the start of each poll',
    marbles(({ expectObservable }) => {
      const { poll } = scripted([1, 'a'], [3, 'b'], [1, 'c'], [1, 'd']);
      const polls = '   -a-----b-c---d--';
      const leaves = '  ^---------------!';
      const polled$ = polling(poll, hasFailed, pace).pipe(map(({ outcome }) => outcome));
      expectObservable(polled$, leaves).toBe(polls);
    }),
  );

  it(
    'runs one poll at a time, and counts the polls that are skipped during a slow poll',
    marbles(({ expectObservable, flush }) => {
      const { poll, begun } = scripted([9, 'a'], [4, 'b'], [0, 'c']);
      //                   ^         poll a ends at 9: those at 4 and 8 are skipped, the next is at 12
      const skips = '      ---------a------b---c--';
      const leaves = '     ^---------------------!';
      const polled$ = polling(poll, hasFailed, pace).pipe(map(({ skipped }) => skipped));
      expectObservable(polled$, leaves).toBe(skips, { a: 2, b: 1, c: 0 });
      flush();
      expect(begun).to.deep.equal([0, 12, 20]);
    }),
  );

  it(
    'keeps the interval after a first failure, and doubles the interval after each further failure, up to a maximum',
    marbles(({ expectObservable, flush }) => {
      const failing = Array.from({ length: 7 }, () => [0, 'x'] as const);
      const { poll, begun } = scripted(...failing, [0, 'o'], [0, 'x'], [0, 'o']);
      const polled$ = polling(poll, hasFailed, pace);
      expectObservable(polled$, '^ 100ms !');
      flush();
      expect(begun).to.deep.equal([0, 4, 12, 28, 44, 60, 76, 92, 96, 100]);
    }),
  );

  it(
    'uses a monotonic clock if one is given',
    marbles(({ expectObservable, flush }) => {
      const { poll, begun } = scripted([1, 'a'], [1, 'b'], [1, 'c']);
      // The scheduler's clock advances during a poll, but this clock does not, so polls seem to take no time.
      expectObservable(
        polling(poll, hasFailed, pace, asyncScheduler, () => 0),
        '^ 12ms !',
      );
      flush();
      expect(begun).to.deep.equal([0, 5, 10]);
    }),
  );

  it(
    'does not change the interval after failures if it is already longer than the maximum',
    marbles(({ expectObservable, flush }) => {
      const { poll, begun } = scripted([0, 'x'], [0, 'x'], [0, 'x']);
      const slow = { intervalMs: 20, maxBackOffMs: 16 };
      expectObservable(polling(poll, hasFailed, slow), '^ 50ms !');
      flush();
      expect(begun).to.deep.equal([0, 20, 40]);
    }),
  );

  it(
    'cancels the running poll on unsubscription',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const poll$ = cold('  ---------');
      const leaves = '      ^---!';
      const subscribed = '  ^---!';
      expectObservable(
        polling(() => poll$, hasFailed, pace),
        leaves,
      ).toBe('-');
      expectSubscriptions(poll$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'forwards an unexpected error, and ends',
    marbles(({ cold, expectObservable }) => {
      const poll$ = cold('  --#');
      expectObservable(polling(() => poll$, hasFailed, pace)).toBe('--#');
    }),
  );

  it(
    'accepts synchronous polls',
    marbles(({ expectObservable }) => {
      const { poll } = scripted();
      const outcomes$ = polling(poll, hasFailed, pace).pipe(map(({ outcome }) => outcome));
      expectObservable(outcomes$, '^--------!').toBe('o---o---o-');
    }),
  );
});

// Tests standing(), which reports when the last good poll becomes stale or lost.
describe('the operator that reports when the last good poll is stale or lost', () => {
  const patience = { staleAfterMs: 4, lostAfterMs: 8 };
  const verdictOf = (polled: string) =>
    polled === 'g' ? 'good' : polled === 'o' ? 'gone' : 'failed';
  const S = { kind: 'stale' };
  const L = { kind: 'lost' };
  const values = { S, L, g: 'g', x: 'x', o: 'o' };

  it(
    'reports neither stale nor lost while good polls arrive in time',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const polled$ = hot('g--g--g--|');
      const shown = '      g--g--g---S---(L|)';
      const subscribed = ' ^--------!';
      expectObservable(polled$.pipe(standing(verdictOf, patience))).toBe(shown, values);
      expectSubscriptions(polled$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'reports stale once and lost once after the last good poll, even while further polls fail',
    marbles(({ hot, expectObservable }) => {
      const polled$ = hot(' g--x--x--x--x--x--');
      const shown = '       g--xS-x-Lx--x--x--';
      const leaves = '      ^-----------------!';
      expectObservable(polled$.pipe(standing(verdictOf, patience)), leaves).toBe(shown, values);
    }),
  );

  it(
    'restarts its timers at the next good poll',
    marbles(({ hot, expectObservable }) => {
      const polled$ = hot(' g-----g-x------------');
      const shown = '       g---S-g-x-S---L------';
      const leaves = '      ^--------------------!';
      expectObservable(polled$.pipe(standing(verdictOf, patience)), leaves).toBe(shown, values);
    }),
  );

  it(
    'stops its timers after a poll that finds no objects',
    marbles(({ hot, expectObservable }) => {
      const polled$ = hot(' g--o------------g----');
      const shown = '       g--o------------g---S';
      const leaves = '      ^--------------------!';
      expectObservable(polled$.pipe(standing(verdictOf, patience)), leaves).toBe(shown, values);
    }),
  );

  it(
    'reports neither stale nor lost before a first good poll',
    marbles(({ hot, expectObservable }) => {
      const polled$ = hot(' x--x--x--x--x--x--');
      expectObservable(polled$.pipe(standing(verdictOf, patience)), '^-----------------!').toBe(
        'x--x--x--x--x--x--',
        values,
      );
    }),
  );

  it(
    'forwards an error, and stops its timers',
    marbles(({ hot, expectObservable }) => {
      const polled$ = hot(' g-#');
      expectObservable(polled$.pipe(standing(verdictOf, patience))).toBe('g-#', values);
    }),
  );

  it(
    'accepts polls that arrive synchronously',
    marbles(({ cold, expectObservable }) => {
      const polled$ = cold('(gx)--------|');
      expectObservable(polled$.pipe(standing(verdictOf, patience))).toBe('(gx)S---L---|', values);
    }),
  );
});
