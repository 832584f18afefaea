// How a component stands by what its polls bring.
import { standing } from '#app/bridge/poll/poll.js';
import { marbles } from '../../support/marbles.js';

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
