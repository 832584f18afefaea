// When the next slice of a tree is bound.
import { expect } from 'chai';
import { tap } from 'rxjs';
import { bindings } from '#app/streams/bindings.js';
import { marbles } from '../support/marbles.js';

describe('bindings', () => {
  const bind = { b: { kind: 'bind' } };

  it('are asked for at once, and whenever there is more, until their consumer leaves', () => {
    let wake: (() => void) | undefined;
    marbles(({ cold, expectObservable, flush }) => {
      const wakes = '   -----w-(ww)------';
      const expected = 'b----b-(bb)------';
      const leaves = '  ^--------------! ';
      cold(wakes)
        .pipe(tap(() => wake?.()))
        .subscribe();
      const bind$ = bindings((each) => {
        wake = each;
        return () => (wake = undefined);
      });
      expect(wake, 'before anybody listens').to.equal(undefined);
      expectObservable(bind$, leaves).toBe(expected, bind);
      flush();
      expect(wake).to.equal(undefined);
    })();
  });
});
