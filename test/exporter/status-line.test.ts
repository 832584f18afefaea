// The line of `systemctl status`.
import { tap } from 'rxjs';
import { statusLine } from '#app/exporter/observers.js';
import { FakeTarget } from '../support/fake-target.js';
import { marbles } from '../support/marbles.js';

describe('statusLine', () => {
  it(
    'counts the ready targets at once, and again when the count has changed',
    marbles(({ cold, expectObservable }) => {
      const target = new FakeTarget();
      target.isReady = false;
      const targets = [new FakeTarget(), target];
      const becomesReady$ = cold('12s x').pipe(tap(() => (target.isReady = true)));
      expectObservable(becomesReady$, '30s !').toBe('12s x');
      expectObservable(statusLine({ targets }), '30s !').toBe('a 14999ms b', {
        a: '1 of 2 targets ready',
        b: '2 of 2 targets ready',
      });
    }),
  );
});
