// Demand-driven renders and their spacing. Spec 1.9, design 3.
import { of } from 'rxjs';
import { coalesce } from '#app/streams/coalesce.js';
import type { Arrival } from '#app/streams/coalesce.js';
import { marbles } from '../support/marbles.js';

/** Capital letters have something new to show; `w` and `v` come before the first full sync. */
const arrivals = {
  D: { kind: 'demand', isReady: true, isDirty: true },
  d: { kind: 'demand', isReady: true, isDirty: false },
  C: { kind: 'change', isReady: true, isDirty: true },
  c: { kind: 'change', isReady: true, isDirty: false },
  w: { kind: 'demand', isReady: false, isDirty: true },
  v: { kind: 'change', isReady: false, isDirty: true },
} as const satisfies Record<string, Arrival>;

const decisions = {
  R: { action: 'render', arrival: arrivals.D },
  C: { action: 'render', arrival: arrivals.C },
  r: { action: 'render', arrival: undefined }, // the deferred one
  S: { action: 'serve', arrival: arrivals.D },
  s: { action: 'serve', arrival: arrivals.d },
  w: { action: 'wait', arrival: arrivals.w },
};

describe('coalesce', () => {
  const pictures = [
    {
      sentence: 'a demand on a changed target renders, on an unchanged one it gets the last render',
      spacing: '-----|                 ',
      arrived: '-D-d------D---d---',
      decided: '-R-s------R---s---',
    },
    {
      sentence: 'inside the spacing a demand gets the last render and one render is deferred',
      spacing: '-----|                 ',
      arrived: '-D-D--------------',
      decided: '-R-S--r-----------',
    },
    {
      sentence: 'demands inside the spacing collapse into one deferred render',
      spacing: '-----|                 ',
      arrived: '-DDDDD------------',
      decided: '-RSSSSr-----------',
    },
    {
      sentence: 'a deferred render starts a spacing of its own',
      spacing: '-----|                 ',
      arrived: '-DD------D--------',
      decided: '-RS---r--S-r------',
    },
    {
      sentence: 'a demand at the end of the spacing renders at once',
      spacing: '-----|                 ',
      arrived: '-D----D-----------',
      decided: '-R----R-----------',
    },
    {
      sentence: 'no demand, no render',
      spacing: '-----|                 ',
      arrived: 'CCCcC-------CCC---',
      decided: '------------------',
    },
    {
      sentence: 'with 0 every change renders',
      spacing: '|                      ',
      arrived: '-CcCCD-d----------',
      decided: '-C-CCR-s----------',
    },
    {
      sentence:
        'before the first full sync a demand waits and nothing renders, whatever the spacing',
      spacing: '|                      ',
      arrived: '-vwvw-------------',
      decided: '--w-w-------------',
    },
    {
      sentence: 'a spacing larger than the run serves one render to all, and defers one',
      spacing: '----------------------|',
      arrived: '-D-D-D-D-D-D-D----',
      decided: '-R-S-S-S-S-S-S----',
    },
  ];
  for (const { sentence, spacing, arrived, decided } of pictures)
    it(
      sentence,
      marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
        const arrival$ = hot(arrived, arrivals);
        const leaves = '      ^-----------------!';

        expectObservable(arrival$.pipe(coalesce(time(spacing.trim()))), leaves).toBe(
          decided,
          decisions,
        );
        expectSubscriptions(arrival$.subscriptions).toBe(leaves);
      }),
    );

  it(
    'completes after the render that it owes',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const arrival$ = hot(' -DD-|       ', arrivals);
      const spacing = time('  -------|   ');
      const decided = '      -RS-----(r|)';
      const subscribed = '   ^---!       ';

      expectObservable(arrival$.pipe(coalesce(spacing))).toBe(decided, decisions);
      expectSubscriptions(arrival$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'passes an error on and forgets the render that it owes',
    marbles(({ hot, time, expectObservable }) => {
      const arrival$ = hot(' -DD-#       ', arrivals);
      const spacing = time('  -------|   ');
      const decided = '      -RS-#       ';

      expectObservable(arrival$.pipe(coalesce(spacing))).toBe(decided, decisions);
    }),
  );

  it(
    'forgets the render that it owes when its consumer leaves',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const arrival$ = hot(' -DD---------', arrivals);
      const spacing = time('  -------|   ');
      const leaves = '       ^----!      ';
      const decided = '      -RS---------';

      expectObservable(arrival$.pipe(coalesce(spacing)), leaves).toBe(decided, decisions);
      expectSubscriptions(arrival$.subscriptions).toBe(leaves);
    }),
  );

  it(
    'takes a source that has everything at once',
    marbles(({ time, expectObservable }) => {
      const { D, d } = arrivals;
      const spacing = time(' ------|   ');
      const decided = '      (RSSs)(r|)';

      expectObservable(of(D, D, D, d).pipe(coalesce(spacing))).toBe(decided, decisions);
    }),
  );

  it(
    'a deferred render that comes late is dropped when a demand was faster',
    marbles(({ hot, time, expectObservable }) => {
      const arrival$ = hot(' -D-D-D----------', arrivals);
      const spacing = time(' -----|          ');
      const decided = '      -R-S-R----------';
      // The clock runs ahead of the timers, as it does when the event loop was held.
      const clock = [1, 1, 3, 9, 9];
      const now = () => clock.shift() ?? 20;
      expectObservable(arrival$.pipe(coalesce(spacing, undefined, now))).toBe(decided, decisions);
    }),
  );
});
