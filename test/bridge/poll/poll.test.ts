// How a poll takes the event loop; what it brings over a real connection is in fetch-body.test.ts.
import { expect } from 'chai';
import { VirtualTimeScheduler, asyncScheduler, map, of, timer } from 'rxjs';
import { poll, polling, standing } from '#app/bridge/poll/poll.js';
import type { PollOutcome } from '#app/bridge/poll/poll.js';
import { marbles } from '../../support/marbles.js';

describe('poll', () => {
  it('lets others have the event loop between parsing, reading and what follows', () => {
    const scheduler = new VirtualTimeScheduler();
    const bytes = Buffer.from('[{"Instance":"h.1.a","Class":"C"}]');
    const outcomes: PollOutcome[] = [];
    poll(() => of({ bytes, received: bytes.length }), {
      limits: { maxObjects: 10, maxVariables: 10, maxDepth: 4 },
      requestTimeoutMs: 1000,
      unixMs: () => 7,
      steadyMs: () => scheduler.now(),
      scheduler,
    }).subscribe({
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

// When a component is polled.
describe('polling', () => {
  const pace = { intervalMs: 4, mostBackOffMs: 16 };
  const hasFailed = (outcome: string) => outcome === 'x';
  /** Polls that each take their time and end as told. */
  const plays = (...polls: readonly (readonly [tookMs: number, outcome: string])[]) => {
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
    'polls at once, and at every interval from the start of the poll before',
    marbles(({ expectObservable }) => {
      const { poll } = plays([1, 'a'], [3, 'b'], [1, 'c'], [1, 'd']);
      const polls = '   -a-----b-c---d--';
      const leaves = '  ^---------------!';
      const polled$ = polling(poll, hasFailed, pace).pipe(map(({ outcome }) => outcome));
      expectObservable(polled$, leaves).toBe(polls);
    }),
  );

  it(
    'never polls twice at once: what a slow poll lasts through is skipped and counted',
    marbles(({ expectObservable, flush }) => {
      const { poll, begun } = plays([9, 'a'], [4, 'b'], [0, 'c']);
      //                   ^         a at 9: 4 and 8 are skipped, the next is at 12
      const skips = '      ---------a------b---c--';
      const leaves = '     ^---------------------!';
      const polled$ = polling(poll, hasFailed, pace).pipe(map(({ skipped }) => skipped));
      expectObservable(polled$, leaves).toBe(skips, { a: 2, b: 1, c: 0 });
      flush();
      expect(begun).to.deep.equal([0, 12, 20]);
    }),
  );

  it(
    'waits as ever after a first failure, then twice, four times as long, up to the bound',
    marbles(({ expectObservable, flush }) => {
      const failing = Array.from({ length: 7 }, () => [0, 'x'] as const);
      const { poll, begun } = plays(...failing, [0, 'o'], [0, 'x'], [0, 'o']);
      const polled$ = polling(poll, hasFailed, pace);
      expectObservable(polled$, '^ 100ms !');
      flush();
      expect(begun).to.deep.equal([0, 4, 12, 28, 44, 60, 76, 92, 96, 100]);
    }),
  );

  it(
    'goes by a clock that does not step, where there is one',
    marbles(({ expectObservable, flush }) => {
      const { poll, begun } = plays([1, 'a'], [1, 'b'], [1, 'c']);
      // The wall clock of the scheduler moves on; this one says that polls take no time.
      expectObservable(
        polling(poll, hasFailed, pace, asyncScheduler, () => 0),
        '^ 12ms !',
      );
      flush();
      expect(begun).to.deep.equal([0, 5, 10]);
    }),
  );

  it(
    'keeps an interval that is longer than the bound of the back-off',
    marbles(({ expectObservable, flush }) => {
      const { poll, begun } = plays([0, 'x'], [0, 'x'], [0, 'x']);
      const slow = { intervalMs: 20, mostBackOffMs: 16 };
      expectObservable(polling(poll, hasFailed, slow), '^ 50ms !');
      flush();
      expect(begun).to.deep.equal([0, 20, 40]);
    }),
  );

  it(
    'lets go of the poll that is under way when nobody listens any more',
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
    'passes on an error, which is a mistake of ours, and ends',
    marbles(({ cold, expectObservable }) => {
      const poll$ = cold('  --#');
      expectObservable(polling(() => poll$, hasFailed, pace)).toBe('--#');
    }),
  );

  it(
    'takes polls that answer at once',
    marbles(({ expectObservable }) => {
      const { poll } = plays();
      const outcomes$ = polling(poll, hasFailed, pace).pipe(map(({ outcome }) => outcome));
      expectObservable(outcomes$, '^--------!').toBe('o---o---o-');
    }),
  );
});

// How a component stands by what its polls bring.
describe('standing', () => {
  const patience = { staleAfterMs: 4, lostAfterMs: 8 };
  const verdictOf = (polled: string) =>
    polled === 'g' ? 'good' : polled === 'o' ? 'gone' : 'failed';
  const S = { kind: 'stale' };
  const L = { kind: 'lost' };
  const values = { S, L, g: 'g', x: 'x', o: 'o' };

  it(
    'says nothing as long as good polls come in time',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const polled$ = hot('g--g--g--|');
      const shown = '      g--g--g---S---(L|)';
      const subscribed = ' ^--------!';
      expectObservable(polled$.pipe(standing(verdictOf, patience))).toBe(shown, values);
      expectSubscriptions(polled$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'says once that the last good poll is stale, and once that it is lost, whatever fails meanwhile',
    marbles(({ hot, expectObservable }) => {
      const polled$ = hot(' g--x--x--x--x--x--');
      const shown = '       g--xS-x-Lx--x--x--';
      const leaves = '      ^-----------------!';
      expectObservable(polled$.pipe(standing(verdictOf, patience)), leaves).toBe(shown, values);
    }),
  );

  it(
    'begins anew with the next good poll',
    marbles(({ hot, expectObservable }) => {
      const polled$ = hot(' g-----g-x------------');
      const shown = '       g---S-g-x-S---L------';
      const leaves = '      ^--------------------!';
      expectObservable(polled$.pipe(standing(verdictOf, patience)), leaves).toBe(shown, values);
    }),
  );

  it(
    'waits for nothing after a poll that says that there is nothing',
    marbles(({ hot, expectObservable }) => {
      const polled$ = hot(' g--o------------g----');
      const shown = '       g--o------------g---S';
      const leaves = '      ^--------------------!';
      expectObservable(polled$.pipe(standing(verdictOf, patience)), leaves).toBe(shown, values);
    }),
  );

  it(
    'says nothing before a first good poll: there is nothing to get old',
    marbles(({ hot, expectObservable }) => {
      const polled$ = hot(' x--x--x--x--x--x--');
      expectObservable(polled$.pipe(standing(verdictOf, patience)), '^-----------------!').toBe(
        'x--x--x--x--x--x--',
        values,
      );
    }),
  );

  it(
    'passes on an error, and lets go of its clock',
    marbles(({ hot, expectObservable }) => {
      const polled$ = hot(' g-#');
      expectObservable(polled$.pipe(standing(verdictOf, patience))).toBe('g-#', values);
    }),
  );

  it(
    'takes polls that are there at once',
    marbles(({ cold, expectObservable }) => {
      const polled$ = cold('(gx)--------|');
      expectObservable(polled$.pipe(standing(verdictOf, patience))).toBe('(gx)S---L---|', values);
    }),
  );
});
