// The startup gate of a target. Spec 3.
import { of } from 'rxjs';
import { latchReady } from '#app/streams/latch-ready.js';
import { marbles } from '../support/marbles.js';

describe('latchReady', () => {
  const bind = { kind: 'bind' } as const;
  const part = { input: bind, isDirty: true, isSynced: false, tick: 3 };
  const full = { ...part, isSynced: true };
  const gate = {
    n: { ...part, isReady: false },
    y: { ...full, isReady: true },
    l: { ...part, isReady: true },
  };

  it(
    'late children never reopen the startup gate (spec 3)',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const sync$ = hot('   --p-p-f-p-f-|', { p: part, f: full });
      const ready = '       --n-n-y-l-y-|';
      const subscribed = '  ^-----------!';

      expectObservable(sync$.pipe(latchReady())).toBe(ready, gate);
      expectSubscriptions(sync$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'passes an error on',
    marbles(({ hot, expectObservable }) => {
      expectObservable(hot('-f-#', { f: full }).pipe(latchReady())).toBe('-y-#', gate);
    }),
  );

  it(
    'leaves its source with its consumer',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const sync$ = hot('   -f-p-f-', { f: full, p: part });
      const leaves = '      ^---!  ';
      const ready = '       -y-l-  ';

      expectObservable(sync$.pipe(latchReady()), leaves).toBe(ready, gate);
      expectSubscriptions(sync$.subscriptions).toBe(leaves);
    }),
  );

  it(
    'takes a source that has everything at once',
    marbles(({ expectObservable }) => {
      expectObservable(of(part, full, part).pipe(latchReady())).toBe('(nyl|)', gate);
    }),
  );

  it(
    'starts closed for each subscriber',
    marbles(({ hot, expectObservable }) => {
      const ready$ = hot('-f---p-', { f: full, p: part }).pipe(latchReady());
      expectObservable(ready$, '^------!').toBe('-y---l-', gate);
      expectObservable(ready$, '---^---!').toBe('-----n-', gate);
    }),
  );
});
