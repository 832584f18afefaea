// Binding a subtree in slices.
import { expect } from 'chai';
import { map, merge, take, tap, timer } from 'rxjs';
import { bindSubtree } from '#app/streams/bind-subtree.js';
import { marbles } from '../support/marbles.js';

describe('bindSubtree', () => {
  const slices = { m: { kind: 'bound', hasMore: true }, l: { kind: 'bound', hasMore: false } };
  /** Has `count` slices to bind, and counts how many were. */
  const subtree = (count: number) => {
    const bound = { slices: 0 };
    return { bound, bindMore: () => ++bound.slices < count };
  };

  it(
    'emits after each slice and completes with the last',
    marbles(({ expectObservable }) => {
      expectObservable(bindSubtree(subtree(3).bindMore)).toBe('(mml|)', slices);
      expectObservable(bindSubtree(subtree(1).bindMore)).toBe('(l|)', slices);
    }),
  );

  it(
    'lets others have their turn between two slices',
    marbles(({ expectObservable }) => {
      const other$ = timer(0).pipe(map(() => 'other'));
      const bound$ = bindSubtree(subtree(3).bindMore).pipe(map(() => 'slice'));
      const turns = '(ssos|)';

      expectObservable(merge(bound$, other$)).toBe(turns, { s: 'slice', o: 'other' });
    }),
  );

  it(
    'ends with the error of a slice',
    marbles(({ expectObservable }) => {
      const failing = () => {
        throw new Error('torn');
      };
      expectObservable(bindSubtree(failing)).toBe('#', undefined, new Error('torn'));
    }),
  );

  it('binds nothing before it is subscribed to, and no more once its consumer left', () => {
    const { bound, bindMore } = subtree(9);
    marbles(({ expectObservable }) => {
      const bound$ = bindSubtree(bindMore);
      expect(bound.slices).to.equal(0);
      expectObservable(bound$, '(^!)').toBe('m', slices);
    })();
    expect(bound.slices).to.equal(1);
  });

  describe('where more may come later', () => {
    /** Has so many slices each time that it is woken. */
    const waking = (count: number) => {
      const source = { left: count, wake: (): void => undefined, isHeard: false };
      const bindMore = () => --source.left > 0;
      const whenMore = (wake: () => void) => {
        [source.wake, source.isHeard] = [wake, true];
        return () => void (source.isHeard = false);
      };
      const more = (slices: number) => {
        source.left = slices;
        source.wake();
      };
      return { source, bindMore, whenMore, more };
    };

    it(
      'binds again whenever it is woken, until its consumer leaves',
      marbles(({ cold, expectObservable, flush }) => {
        const { source, bindMore, whenMore, more } = waking(2);
        const bound$ = bindSubtree(bindMore, undefined, whenMore);
        const wakes = '         -----3------1----';
        const expected = '      (ml)-(mml)--l----';
        const leaves = '        ^---------------!';

        cold(wakes)
          .pipe(tap((slices) => more(Number(slices))))
          .subscribe();
        expectObservable(bound$, leaves).toBe(expected, slices);
        flush();
        expect(source.isHeard).to.equal(false);
      }),
    );

    it('is not too late for what the consumer of the last slice brings', () => {
      const { bindMore, whenMore, more } = waking(1);
      let brought = 0;
      marbles(({ expectObservable }) => {
        const bound$ = bindSubtree(bindMore, undefined, whenMore).pipe(
          tap(({ hasMore }) => {
            if (!hasMore && brought++ === 0) more(2);
          }),
          take(3),
        );
        expectObservable(bound$).toBe('(lml|)', slices);
      })();
    });
  });
});
