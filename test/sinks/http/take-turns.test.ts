// Streams that take turns.
import { EMPTY, catchError, merge, of, takeUntil, timer } from 'rxjs';
import { takeTurns } from '#app/sinks/http/take-turns.js';
import { marbles } from '../../support/marbles.js';

describe('takeTurns', () => {
  it(
    'runs as many as it may at once, and the others in the order in which they came',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const turn = takeTurns(2);
      const a$ = cold('   ----a|');
      const b$ = cold('   -b|');
      const c$ = cold('     ----c|');
      const d$ = cold('        --d|');
      const merged = '    -b--a-cd|';
      const whenA = '     ^----!';
      const whenB = '     ^-!';
      const whenC = '     --^----!';
      const whenD = '     -----^--!';

      expectObservable(merge(...[a$, b$, c$, d$].map((each$) => each$.pipe(turn)))).toBe(merged);
      expectSubscriptions(a$.subscriptions).toBe(whenA);
      expectSubscriptions(b$.subscriptions).toBe(whenB);
      expectSubscriptions(c$.subscriptions).toBe(whenC);
      expectSubscriptions(d$.subscriptions).toBe(whenD);
    }),
  );

  it(
    'one that fails gives its turn to the next',
    marbles(({ cold, expectObservable }) => {
      const turn = takeTurns(1);
      const failing$ = cold('-#').pipe(
        turn,
        catchError(() => EMPTY),
      );
      const next$ = cold('    -b|');
      const merged = '       --b|';
      expectObservable(merge(failing$, next$.pipe(turn))).toBe(merged);
    }),
  );

  it(
    'one that leaves before its turn never runs, and one that leaves in it gives it back',
    marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
      const turn = takeTurns(1);
      const leaves = (at: string) => takeUntil<string>(timer(time(at)));
      const a$ = cold('   ---------|');
      const b$ = cold('   b|');
      const c$ = cold('       -c|');
      const merged = '    -----c|';

      expectObservable(
        merge(a$.pipe(turn, leaves('----|')), b$.pipe(turn, leaves('--|')), c$.pipe(turn)),
      ).toBe(merged);
      expectSubscriptions(a$.subscriptions).toBe('^---!');
      expectSubscriptions(b$.subscriptions).toBe([]);
      expectSubscriptions(c$.subscriptions).toBe('----^-!');
    }),
  );

  it(
    'sources that end at once take their turns one after the other',
    marbles(({ expectObservable }) => {
      const turn = takeTurns(1);
      expectObservable(merge(...['a', 'b', 'c'].map((each) => of(each).pipe(turn)))).toBe('(abc|)');
    }),
  );
});
