// A stage whose output comes back to it.
import { EMPTY, delay, filter, map, of } from 'rxjs';
import { looped } from '#app/streams/looped.js';
import { marbles } from '../support/marbles.js';

describe('looped', () => {
  /** Counts letters up: `a` comes back as `b`, `b` as `c`, no further. */
  const next = (letter: string) => String.fromCharCode(letter.charCodeAt(0) + 1);
  const counting = (frames: number) =>
    looped<string, string>(
      map((letter) => letter.toUpperCase()),
      (output$) =>
        output$.pipe(
          filter((letter) => letter < 'C'),
          map((letter) => next(letter.toLowerCase())),
          delay(frames),
        ),
    );

  it(
    'takes what comes back through the stage as well',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const input$ = hot('    -a--------a---');
      const later = time('    --|           ');
      const leaves = '        ^------------!';
      const output = '        -A-B-C----A-B-';

      expectObservable(input$.pipe(counting(later)), leaves).toBe(output);
      expectSubscriptions(input$.subscriptions).toBe(leaves);
    }),
  );

  it(
    'completes with its input, and forgets what is still on its way back',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const input$ = hot('    -a-|   ');
      const output = '        -A-|   ';
      expectObservable(input$.pipe(counting(4))).toBe(output);
      expectSubscriptions(input$.subscriptions).toBe('^--!');
    }),
  );

  it(
    'passes an error on',
    marbles(({ hot, expectObservable }) => {
      expectObservable(hot('-a-#').pipe(counting(1))).toBe('-AB#');
    }),
  );

  it(
    'takes a source that has everything at once',
    marbles(({ expectObservable }) => {
      expectObservable(of('a', 'b').pipe(counting(1))).toBe('(AB|)');
    }),
  );

  it(
    'is its stage alone when nothing comes back',
    marbles(({ hot, expectObservable }) => {
      const alone = looped<string, string>(
        map((letter) => letter.toUpperCase()),
        () => EMPTY,
      );
      expectObservable(hot('-a-b-|').pipe(alone)).toBe('-A-B-|');
    }),
  );
});
