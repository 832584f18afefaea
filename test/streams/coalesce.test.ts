// Demand-driven renders and their spacing. Spec 1.9, design 3.
import { asyncScheduler, filter, map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { coalesce, whenDue } from '#app/streams/coalesce.js';
import type { Arrival, Decision } from '#app/streams/coalesce.js';
import { looped } from '#app/streams/looped.js';
import { marbles } from '../support/marbles.js';

/** Capital letters have something new to show; `w` and `v` come before the first full sync. */
const arrivals = {
  D: { kind: 'demand', isReady: true, isDirty: true },
  d: { kind: 'demand', isReady: true, isDirty: false },
  C: { kind: 'change', isReady: true, isDirty: true },
  c: { kind: 'change', isReady: true, isDirty: false },
  w: { kind: 'demand', isReady: false, isDirty: true },
  v: { kind: 'change', isReady: false, isDirty: true },
  /** Takes over from one that rendered two frames ago. */
  A: {
    kind: 'change',
    isReady: true,
    isDirty: true,
    adopted: { sinceRenderMs: 2, owesRender: false },
  },
  /** The same, and a render was deferred then. */
  O: {
    kind: 'change',
    isReady: true,
    isDirty: true,
    adopted: { sinceRenderMs: 2, owesRender: true },
  },
} as const satisfies Record<string, Arrival>;

const decisions = {
  R: { action: 'render', arrival: arrivals.D },
  C: { action: 'render', arrival: arrivals.C },
  r: { action: 'render', arrival: { kind: 'due', isReady: true, isDirty: true } },
  S: { action: 'serve', arrival: arrivals.D },
  s: { action: 'serve', arrival: arrivals.d },
  w: { action: 'wait', arrival: arrivals.w },
};

/** Decisions that ask for something, with a deferred render coming back as an arrival. */
const decided =
  (spacingMs: number, now = () => asyncScheduler.now()) =>
  (arrival$: Observable<Arrival>) =>
    arrival$.pipe(
      looped<Arrival, Decision<Arrival>>(coalesce(spacingMs, now), (decision$) =>
        whenDue(decision$).pipe(map((due) => ({ ...due, isReady: true, isDirty: true }))),
      ),
      filter(({ action }) => action !== 'rest'),
      map(({ action, arrival }) => ({ action, arrival })),
    );

describe('coalesce', () => {
  const pictures = [
    {
      sentence: 'a demand on a changed target renders, on an unchanged one it gets the last render',
      spacing: '-----|                 ',
      arrived: '-D-d------D---d---',
      wanted: '-R-s------R---s---',
    },
    {
      sentence: 'inside the spacing a demand gets the last render and one render is deferred',
      spacing: '-----|                 ',
      arrived: '-D-D--------------',
      wanted: '-R-S--r-----------',
    },
    {
      sentence: 'demands inside the spacing collapse into one deferred render',
      spacing: '-----|                 ',
      arrived: '-DDDDD------------',
      wanted: '-RSSSSr-----------',
    },
    {
      sentence: 'a deferred render starts a spacing of its own',
      spacing: '-----|                 ',
      arrived: '-DD------D--------',
      wanted: '-RS---r--S-r------',
    },
    {
      sentence: 'a demand at the end of the spacing renders at once',
      spacing: '-----|                 ',
      arrived: '-D----D-----------',
      wanted: '-R----R-----------',
    },
    {
      sentence: 'no demand, no render',
      spacing: '-----|                 ',
      arrived: 'CCCcC-------CCC---',
      wanted: '------------------',
    },
    {
      sentence: 'with 0 every change renders',
      spacing: '|                      ',
      arrived: '-CcCCD-d----------',
      wanted: '-C-CCR-s----------',
    },
    {
      sentence:
        'before the first full sync a demand waits and nothing renders, whatever the spacing',
      spacing: '|                      ',
      arrived: '-vwvw-------------',
      wanted: '--w-w-------------',
    },
    {
      sentence: 'who takes over keeps the spacing to the last render of its predecessor',
      spacing: '-----|                 ',
      arrived: '-A-D-----D--------',
      wanted: '---Sr----R--------',
    },
    {
      sentence: 'who takes over renders what its predecessor deferred, at the end of that spacing',
      spacing: '-----|                 ',
      arrived: '-O-D-----D--------',
      wanted: '---Sr----R--------',
    },
    {
      sentence: 'who takes over late renders at once what its predecessor deferred',
      spacing: '-|                     ',
      arrived: '-O---D------------',
      wanted: '-r---R------------',
    },
    {
      sentence: 'a spacing larger than the run serves one render to all, and defers one',
      spacing: '----------------------|',
      arrived: '-D-D-D-D-D-D-D----',
      wanted: '-R-S-S-S-S-S-S----',
    },
  ];
  for (const { sentence, spacing, arrived, wanted } of pictures)
    it(
      sentence,
      marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
        const arrival$ = hot(arrived, arrivals);
        const leaves = '      ^-----------------!';

        expectObservable(arrival$.pipe(decided(time(spacing.trim()))), leaves).toBe(
          wanted,
          decisions,
        );
        expectSubscriptions(arrival$.subscriptions).toBe(leaves);
      }),
    );

  it(
    'completes with its source, and owes nothing then',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const arrival$ = hot(' -DD-|       ', arrivals);
      const spacing = time('  -------|   ');
      const wanted = '       -RS-|       ';
      const subscribed = '   ^---!       ';

      expectObservable(arrival$.pipe(decided(spacing))).toBe(wanted, decisions);
      expectSubscriptions(arrival$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'passes an error on and forgets the render that it owes',
    marbles(({ hot, time, expectObservable }) => {
      const arrival$ = hot(' -DD-#       ', arrivals);
      const spacing = time('  -------|   ');
      const wanted = '       -RS-#       ';

      expectObservable(arrival$.pipe(decided(spacing))).toBe(wanted, decisions);
    }),
  );

  it(
    'forgets the render that it owes when its consumer leaves',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const arrival$ = hot(' -DD---------', arrivals);
      const spacing = time('  -------|   ');
      const leaves = '       ^----!      ';
      const wanted = '       -RS---------';

      expectObservable(arrival$.pipe(decided(spacing)), leaves).toBe(wanted, decisions);
      expectSubscriptions(arrival$.subscriptions).toBe(leaves);
    }),
  );

  it(
    'takes a source that has everything at once',
    marbles(({ time, expectObservable }) => {
      const { D, d } = arrivals;
      const spacing = time(' ------|   ');
      const wanted = '       (RSSs|)';

      expectObservable(of(D, D, D, d).pipe(decided(spacing))).toBe(wanted, decisions);
    }),
  );

  it(
    'tells whether a deferred render is still to come',
    marbles(({ hot, time, expectObservable }) => {
      const arrival$ = hot(' -D-D-C--C-', arrivals);
      const spacing = time(' -----|    ');
      const wanted = '       -n-y-yn-n-';
      const stage = coalesce<Arrival>(spacing, () => asyncScheduler.now());
      const owed$ = arrival$.pipe(
        looped<Arrival, Decision<Arrival>>(stage, (decision$) =>
          whenDue(decision$).pipe(map((due) => ({ ...due, isReady: true, isDirty: true }))),
        ),
        map(({ owesRender }) => owesRender),
      );
      expectObservable(owed$).toBe(wanted, { y: true, n: false });
    }),
  );

  it(
    'a deferred render that comes late is dropped when a demand was faster',
    marbles(({ hot, time, expectObservable }) => {
      const arrival$ = hot(' -D-D-D----------', arrivals);
      const spacing = time(' -----|          ');
      const wanted = '       -R-S-R----------';
      // The clock runs ahead of the timers, as it does when the event loop was held.
      const clock = [1, 3, 9];
      const now = () => clock.shift() ?? 20;
      expectObservable(arrival$.pipe(decided(spacing, now))).toBe(wanted, decisions);
    }),
  );
});
