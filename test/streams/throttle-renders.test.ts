// Tests that demands cause renders, and the interval between renders. Spec 1.9.
import { expect } from 'chai';
import fc from 'fast-check';
import { Subject, asyncScheduler, connect, ignoreElements, merge, of, tap } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { newCounters } from '#app/exposition/counters.js';
import { throttleRenders } from '#app/streams/throttle-renders.js';
import type { Demand } from '#app/streams/throttle-renders.js';
import { unknownState } from '#app/streams/report.js';
import type { Report } from '#app/streams/report.js';
import { follow } from '../support/follow.js';
import { countedSource, firstTwo, marbles } from '../support/marbles.js';
import { VirtualClock } from '../support/virtual-clock.js';

type Event = Demand | Report;

const counted = { tasks: [], counts: newCounters() };
const ready = { state: { ...unknownState('82'), isReady: true }, ...counted };
const unready = { state: unknownState('82'), ...counted };

const demand: Demand = { kind: 'demand' };
const changed: Report = { kind: 'changed' };
const failed: Report = { kind: 'failed', reason: 'gone', state: unready.state };
const notRendered = { hasRendered: false, isDirty: false, snapshot: undefined };
/** The report on a refresh of a ready target. */
const refreshed = (hasRendered: boolean, isDirty: boolean): Report => ({
  kind: 'refreshed',
  ...ready,
  ...notRendered,
  hasRendered,
  isDirty,
});

/** Reports on refreshes: `r`endered, un`c`hanged, `o`ld text served, `n`ot ready. `x` is a failure. */
const events = {
  d: demand,
  C: changed,
  r: refreshed(true, false),
  c: refreshed(false, false),
  o: refreshed(false, true),
  n: { kind: 'refreshed', ...unready, ...notRendered },
  x: failed,
  f: { kind: 'state', ...ready },
  N: { kind: 'state', ...unready },
  s: { kind: 'switched', state: ready.state },
  S: { kind: 'switched', state: unready.state },
} as const satisfies Record<string, Event>;

/**
 * Emits `M` for each refresh that may render, and `m` for each other refresh. The source emits their
 * reports. A refresh can start unless `canStart` returns false.
 */
const refreshes =
  (
    renderMinIntervalMs: number,
    now = () => asyncScheduler.now(),
    scheduler: SchedulerLike = asyncScheduler,
    canStart = () => true,
  ) =>
  (source$: Observable<Event>): Observable<string> =>
    source$.pipe(
      connect((event$) => {
        const call$ = new Subject<string>();
        const refresh = (mayRender: boolean): boolean => {
          call$.next(mayRender ? 'M' : 'm');
          return canStart();
        };
        const report$ = event$.pipe(
          throttleRenders(refresh, () => renderMinIntervalMs, now, scheduler),
          ignoreElements(),
          tap({
            complete: () => {
              call$.complete();
            },
          }),
        );
        return merge(call$, report$);
      }),
    );

describe('the throttling of renders', () => {
  const pictures = [
    {
      title: 'lets a demand render if the last render is old enough',
      interval: '-----|',
      arrived: '-d-r----d--c-d-r-',
      wanted: '-M------M----M---',
    },
    {
      title:
        'lets no demand render within the interval, but delays one render to the end of the interval',
      interval: '-----|',
      arrived: '-d-r-do--r--',
      wanted: '-M---m--M---',
    },
    {
      title: 'delays one render for all demands within the interval',
      interval: '-----|',
      arrived: '-d-rdodo-r--',
      wanted: '-M--m-m-M---',
    },
    {
      title: 'delays no render if the text is unchanged',
      interval: '-----|',
      arrived: '-d-r-dc---------',
      wanted: '-M---m----------',
    },
    {
      title: 'sends one further refresh for all demands that arrive during a refresh',
      interval: '-----|',
      arrived: '-d-ddd-r---c----',
      wanted: '-M-----m--------',
    },
    {
      title: 'drops a delayed render if a demand causes a render first',
      interval: '-----|',
      arrived: '-d-r-do-(dr)',
      wanted: '-M---m--M---',
    },
    {
      title: 'ignores the timer of an earlier delay',
      interval: '---------|',
      arrived: '-dr-doNdrdo-------',
      wanted: '-M--m--M-m-------M',
    },
    {
      title: 'postpones a delayed render until the running refresh ends',
      interval: '-----|',
      arrived: '-d-r-dod--o-',
      wanted: '-M---m-m--M-',
    },
    {
      title: 'drops a delayed render that is due while a demand renders',
      interval: '-----|',
      arrived: '-d-r-do-d-r--',
      wanted: '-M---m--M----',
    },
    {
      title: 'forgets the last render when a refresh finds the target not ready',
      interval: '-----|',
      arrived: '-d-r-dnd--',
      wanted: '-M---m-M--',
    },
    {
      title: 'sends no refresh without a demand',
      interval: '-----|',
      arrived: 'CCfC---C--------',
      wanted: '----------------',
    },
    {
      title: 'renders every change if the interval is 0',
      interval: '|',
      arrived: '-C-r-C-r-d-c----',
      wanted: '-M---M---M------',
    },
    {
      title: 'sends another refresh for a change during a refresh if the interval is 0',
      interval: '|',
      arrived: '-d-CC-r---r-----',
      wanted: '-M----M---------',
    },
    {
      title: 'delays no render before the first full sync',
      interval: '-----|',
      arrived: '-d-n-d-n--------',
      wanted: '-M---M----------',
    },
    {
      title: 'forgets the last render and the delay of a target that is no longer ready',
      interval: '-----|',
      arrived: '-d-r-doN--d-',
      wanted: '-M---m----M-',
    },
    {
      title: 'keeps the interval and the delayed render after a switch to another partition',
      interval: '-----|',
      arrived: '-d-r-dos-r--',
      wanted: '-M---m--M---',
    },
    {
      title: 'forgets the last render after a switch to a partition that is not ready',
      interval: '-----|',
      arrived: '-d-r-doS--d-',
      wanted: '-M---m----M-',
    },
    {
      title:
        'repeats a refresh if the target became ready again during the refresh and has no text',
      interval: '-----|',
      arrived: '-d-r-dNo----',
      wanted: '-M---m-M----',
    },
    {
      title:
        'repeats the open refresh, with the same right to render, for the hosting that takes over',
      interval: '-----|',
      arrived: '-d-s-r-dsc------',
      wanted: '-M-M---mm-------',
    },
    {
      title:
        'lets the repeated refresh render if the interval has passed meanwhile, and answers all demands with it',
      interval: '-----|',
      arrived: '-d-r-d----dsr-----',
      wanted: '-M---m-----M------',
    },
    {
      title: 'repeats the open refresh for a hosting that takes over and is not ready',
      interval: '-----|',
      arrived: '-d-S-n-d-r------',
      wanted: '-M-M---M--------',
    },
    {
      title: 'sends another refresh for the demands that arrive during a refresh that fails',
      interval: '-----|',
      arrived: '-d-d-x-c-d------',
      wanted: '-M---M---M------',
    },
  ];
  for (const { title, interval, arrived, wanted } of pictures)
    it(
      title,
      marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
        const input$ = hot(arrived, events);
        const leaves = `      ^${'-'.repeat(18)}!`;

        expectObservable(input$.pipe(refreshes(time(interval))), leaves).toBe(wanted);
        expectSubscriptions(input$.subscriptions).toBe(leaves);
      }),
    );

  it(
    'sends another refresh at the next demand after a refresh that cannot start',
    marbles(({ hot, expectObservable }) => {
      const input$ = hot(' -d--dd-', events);
      const refresh$ = input$.pipe(refreshes(5, undefined, undefined, () => false));
      expectObservable(refresh$).toBe('-M--MM-');
    }),
  );

  it(
    'completes with its source',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const input$ = hot(' -d-r-|', events);
      const subscribed = '   ^----!';
      expectObservable(input$.pipe(refreshes(5))).toBe('-M---|');
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'forwards an error',
    marbles(({ hot, expectObservable }) => {
      expectObservable(hot(' -d-#', events).pipe(refreshes(5))).toBe('-M-#');
    }),
  );

  it(
    'accepts a synchronous source',
    marbles(({ expectObservable }) => {
      const { d, r, o } = events;
      expectObservable(of(d, r, d, o).pipe(refreshes(6))).toBe('(Mm)--(M|)');
    }),
  );

  it('stops when the consumer unsubscribes during the second emission', () => {
    const { d, r, o, C } = events;
    const clock = new VirtualClock();
    const { source$, emitted } = countedSource<Event>([d, r, d, o, C, d]);
    const reads: number[] = [];
    const interval = () => reads.push(clock.now());
    const throttled = throttleRenders(
      () => true,
      interval,
      () => clock.now(),
      clock,
    );
    // The second report delays a render. The consumer unsubscribes during that report.
    expect(follow(firstTwo(source$.pipe(throttled))).seen).to.have.length(2);
    const before = [emitted(), reads.length];
    clock.advance(1000);
    expect([emitted(), reads.length], 'nothing is left').to.deep.equal(before);
  });

  describe('under random events and late timers', () => {
    const SPACING_MS = 10;
    type TestEvent = 'demand' | 'change' | 'answer' | 'lose' | { readonly wait: number };
    const testEvents = fc.array(
      fc.oneof(
        fc.constantFrom<TestEvent>('demand', 'demand', 'change', 'answer', 'answer', 'lose'),
        fc.record({ wait: fc.integer({ min: 1, max: 12 }) }),
      ),
      { maxLength: 60 },
    );

    /** A virtual clock whose timers fire late. */
    class LateClock extends VirtualClock {
      constructor(private readonly lateMs: number) {
        super();
      }
      override schedule: VirtualClock['schedule'] = (work, delay = 0, state) =>
        super.schedule(work, delay + this.lateMs, state);
    }

    /** A model of a partition that answers when the test says so. */
    class Model {
      /** The number of value changes so far, and at the last render. */
      #values = 0;
      #rendered = -1;
      #renderedAt = -Infinity;
      #open: { readonly mayRender: boolean; readonly demands: number } | undefined;
      #waiting = 0;
      /** The time since which the served text has been outdated; undefined after a render. */
      #oldSince: number | undefined;

      constructor(private readonly clock: VirtualClock) {}

      /** The events that a step of the test causes. */
      readonly take = (event: TestEvent): Event[] => {
        if (event === 'demand') this.#waiting++;
        else if (event === 'change') this.#values++;
        else if (event === 'lose') return this.#lose();
        else if (event === 'answer') return this.#answer();
        else {
          this.clock.advance(event.wait);
          return [];
        }
        return [event === 'demand' ? demand : changed];
      };

      refresh(mayRender: boolean): void {
        expect(this.#open, 'one refresh is open at a time').to.equal(undefined);
        this.#open = { mayRender, demands: this.#waiting };
        this.#waiting = 0;
      }

      /** Checks that all demands are answered and all outdated texts rendered. */
      end(feed: (events: readonly Event[]) => void): void {
        for (let round = 0; round < 20; round++) {
          feed(this.#answer());
          this.clock.advance(SPACING_MS);
        }
        expect(this.#waiting, 'no demand waits').to.equal(0);
        expect(this.#open, 'no refresh is open').to.equal(undefined);
        expect(this.#oldSince, 'no served text is outdated').to.equal(undefined);
      }

      #answer(): Event[] {
        const open = this.#open;
        if (open === undefined) return [];
        this.#open = undefined;
        const wasDirty = this.#rendered !== this.#values;
        const hasRendered = open.mayRender && wasDirty;
        if (hasRendered) {
          expect(this.clock.now() - this.#renderedAt, 'the interval is kept').to.be.at.least(
            SPACING_MS,
          );
          this.#rendered = this.#values;
          this.#renderedAt = this.clock.now();
          this.#oldSince = undefined;
        } else if (wasDirty) this.#oldSince ??= this.clock.now();
        const isDirty = wasDirty && !hasRendered;
        return [refreshed(hasRendered, isDirty)];
      }

      #lose(): Event[] {
        this.#open = undefined;
        this.#rendered = -1;
        this.#renderedAt = -Infinity;
        this.#oldSince = undefined;
        return [failed];
      }
    }

    it('keeps the interval, answers every demand, and renders again after each outdated text', () =>
      fc.assert(
        fc.property(testEvents, fc.nat(5), (script, lateMs) => {
          const clock = new LateClock(lateMs);
          const model = new Model(clock);
          const event$ = new Subject<Event>();
          const refresh$ = event$.pipe(refreshes(SPACING_MS, () => clock.now(), clock));
          follow(
            refresh$.pipe(
              tap((letter) => {
                model.refresh(letter === 'M');
              }),
            ),
          );
          const feed = (given: readonly Event[]): void => {
            for (const event of given) event$.next(event);
          };
          for (const event of script) feed(model.take(event));
          model.end(feed);
        }),
        { numRuns: 500 },
      ));
  });
});
