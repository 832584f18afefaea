// Tests the operator that limits concurrent subscriptions.
import { EMPTY, catchError, concat, merge, of, takeUntil, timer } from 'rxjs';
import { limitConcurrency } from '#app/limit-concurrency.js';
import { marbles } from './support/marbles.js';

describe('limitConcurrency', () => {
  const limit = (max: number) => limitConcurrency(max, { maxWaitMs: 20 })(EMPTY);

  it(
    'runs as many sources as the limit allows, and starts the waiting sources in order of subscription',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limited = limit(2);
      const a$ = cold('   ----a|');
      const b$ = cold('   -b|');
      const c$ = cold('     ----c|');
      const d$ = cold('        --d|');
      const merged = '    -b--a-cd|';
      const whenA = '     ^----!';
      const whenB = '     ^-!';
      const whenC = '     --^----!';
      const whenD = '     -----^--!';

      expectObservable(merge(...[a$, b$, c$, d$].map((each$) => each$.pipe(limited)))).toBe(merged);
      expectSubscriptions(a$.subscriptions).toBe(whenA);
      expectSubscriptions(b$.subscriptions).toBe(whenB);
      expectSubscriptions(c$.subscriptions).toBe(whenC);
      expectSubscriptions(d$.subscriptions).toBe(whenD);
    }),
  );

  it(
    'frees the place of a source that fails',
    marbles(({ cold, expectObservable }) => {
      const limited = limit(1);
      const failing$ = cold('-#').pipe(
        limited,
        catchError(() => EMPTY),
      );
      const next$ = cold('    -b|');
      const merged = '       --b|';
      expectObservable(merge(failing$, next$.pipe(limited))).toBe(merged);
    }),
  );

  it(
    'drops a waiting source on unsubscription, and frees the place of a running source',
    marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
      const limited = limit(1);
      const leaves = (at: string) => takeUntil<string>(timer(time(at)));
      const a$ = cold('   ---------|');
      const b$ = cold('   b|');
      const c$ = cold('       -c|');
      const merged = '    -----c|';

      expectObservable(
        merge(a$.pipe(limited, leaves('----|')), b$.pipe(limited, leaves('--|')), c$.pipe(limited)),
      ).toBe(merged);
      expectSubscriptions(a$.subscriptions).toBe('^---!');
      expectSubscriptions(b$.subscriptions).toBe([]);
      expectSubscriptions(c$.subscriptions).toBe('----^-!');
    }),
  );

  it(
    'drops a source that waits too long, subscribes to the fallback instead, and keeps the order of the others',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const limited = limitConcurrency(1, { maxWaitMs: 5 });
      const a$ = cold('    ------a|');
      const b$ = cold('    b|');
      const late$ = cold('      --l|');
      const c$ = concat(cold('----|'), cold('-c|').pipe(limited(late$)));
      const merged = '     ------alc|';
      const whenLate = '   -----^--!';

      expectObservable(merge(...[a$, b$].map((each$) => each$.pipe(limited(late$))), c$)).toBe(
        merged,
      );
      expectSubscriptions(b$.subscriptions).toBe([]);
      expectSubscriptions(late$.subscriptions).toBe(whenLate);
    }),
  );

  it(
    'runs synchronous sources one after the other',
    marbles(({ expectObservable }) => {
      const limited = limit(1);
      expectObservable(merge(...['a', 'b', 'c'].map((each) => of(each).pipe(limited)))).toBe(
        '(abc|)',
      );
    }),
  );
});
