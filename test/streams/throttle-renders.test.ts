// Tests that demands cause renders, and the interval between renders. Spec 1.9, design 3.
import { expect } from 'chai';
import fc from 'fast-check';
import { NEVER, Subject, asyncScheduler, filter, map, merge, of } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { newCounters } from '#app/exposition/counters.js';
import { throttleRenders } from '#app/streams/throttle-renders.js';
import type { ThrottleOutput, Demand } from '#app/streams/throttle-renders.js';
import { unknownState } from '#app/streams/report.js';
import type { Report } from '#app/streams/report.js';
import { follow } from '../support/follow.js';
import { countedSource, firstTwo, marbles } from '../support/marbles.js';
import { VirtualClock } from '../support/virtual-clock.js';

type Input = Demand | Report;

const counted = { tasksMs: [], counts: newCounters() };
const ready = { state: { ...unknownState('82'), isReady: true }, ...counted };
const unready = { state: unknownState('82'), ...counted };
const none = { hasRendered: false, isDirty: false, snapshot: undefined };

/** Inputs by letter. Those of refreshes: `r`endered, un`c`hanged, `o`ld text served, `n`ot ready. */
const inputs = {
  d: { kind: 'demand' },
  C: { kind: 'changed' },
  r: { kind: 'refreshed', ...ready, ...none, hasRendered: true },
  c: { kind: 'refreshed', ...ready, ...none },
  o: { kind: 'refreshed', ...ready, ...none, isDirty: true },
  n: { kind: 'refreshed', ...unready, ...none },
  f: { kind: 'state', ...ready },
  N: { kind: 'state', ...unready },
  s: { kind: 'switched', state: ready.state },
  S: { kind: 'switched', state: unready.state },
  x: { kind: 'failed', reason: 'gone', state: unready.state },
} as const satisfies Record<string, Input>;

/**
 * Abbreviates an output: `M` for a refresh that may render, `m` for one that may not, `D` for a delay in
 * milliseconds.
 */
const abbreviated = ({ refresh, delayed }: ThrottleOutput): string =>
  [
    refresh === undefined ? '' : refresh.mayRender ? 'M' : 'm',
    delayed === undefined ? '' : `D${delayed.ms}`,
  ].join('');
const throttled =
  (renderMinIntervalMs: number, now = () => asyncScheduler.now()) =>
  (input$: Observable<Input>) =>
    input$.pipe(
      throttleRenders(() => renderMinIntervalMs, now),
      map(abbreviated),
      filter((text) => text !== ''),
    );

describe('the throttling of renders', () => {
  const values = {
    ...{ M: 'M', m: 'm', a: 'D2', b: 'D3', e: 'D6', f: 'D7' },
  };
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
      wanted: '-M---ma-M---',
    },
    {
      title: 'delays one render for all demands within the interval',
      interval: '-----|',
      arrived: '-d-rdodo-r--',
      wanted: '-M--mbm-M---',
    },
    {
      title: 'delays no render if the text is unchanged',
      interval: '-----|',
      arrived: '-d-r-dc---------',
      wanted: '-M---m----------',
    },
    {
      title: 'answers demands during a refresh with one further refresh',
      interval: '-----|',
      arrived: '-d-ddd-r---c----',
      wanted: '-M-----m--------',
    },
    {
      title: 'drops a delayed render if a demand causes a render first',
      interval: '-----|',
      arrived: '-d-r-do-(dr)',
      wanted: '-M---ma-M---',
    },
    {
      title: 'ignores the timer of an earlier delay',
      interval: '---------|',
      arrived: '-dr-doNdrdo-------',
      wanted: '-M--me-M-mf------M',
    },
    {
      title: 'postpones a delayed render until the running refresh ends',
      interval: '-----|',
      arrived: '-d-r-dod--o-',
      wanted: '-M---mam--M-',
    },
    {
      title: 'drops a delayed render that is due while a demand renders',
      interval: '-----|',
      arrived: '-d-r-do-d-r--',
      wanted: '-M---ma-M----',
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
      wanted: '-M---ma---M-',
    },
    {
      title: 'keeps the interval and the delayed render after a switch to another partition',
      interval: '-----|',
      arrived: '-d-r-dos-r--',
      wanted: '-M---ma-M---',
    },
    {
      title: 'forgets the last render after a switch to a partition that is not ready',
      interval: '-----|',
      arrived: '-d-r-doS--d-',
      wanted: '-M---ma---M-',
    },
    {
      title: 'repeats a refresh if the target became ready again during it and has no text',
      interval: '-----|',
      arrived: '-d-r-dNo----',
      wanted: '-M---m-M----',
    },
    {
      title: 'sends the next refresh even after a refresh that fails',
      interval: '-----|',
      arrived: '-d-d-x-d--------',
      wanted: '-M-----M--------',
    },
  ];
  for (const { title, interval, arrived, wanted } of pictures)
    it(
      title,
      marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
        const input$ = hot(arrived, inputs);
        const leaves = `      ^${'-'.repeat(18)}!`;

        expectObservable(input$.pipe(throttled(time(interval))), leaves).toBe(wanted, values);
        expectSubscriptions(input$.subscriptions).toBe(leaves);
      }),
    );

  it(
    'completes with its source',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const input$ = hot(' -d-r-|', inputs);
      const subscribed = '   ^----!';
      expectObservable(input$.pipe(throttled(5))).toBe('-M---|', values);
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'forwards an error',
    marbles(({ hot, expectObservable }) => {
      expectObservable(hot(' -d-#', inputs).pipe(throttled(5))).toBe('-M-#', values);
    }),
  );

  it(
    'accepts a synchronous source',
    marbles(({ expectObservable }) => {
      const { d, r, o } = inputs;
      expectObservable(of(d, r, d, o, d).pipe(throttled(6))).toBe('(Mmem)|', values);
    }),
  );

  it('stops when the consumer unsubscribes during the second emission', () => {
    const { d, r, o, C } = inputs;
    const clock = new VirtualClock();
    const { source$, emitted } = countedSource([d, r, d, o, C, d]);
    const reads: number[] = [];
    const interval = () => reads.push(clock.now());
    const operator = throttleRenders(interval, () => clock.now(), clock);
    // The second output delays a render, and the consumer unsubscribes during it.
    const output$ = merge(source$, NEVER).pipe(
      operator,
      map(abbreviated),
      filter((text) => text.startsWith('M') || text.startsWith('D')),
    );
    expect(follow(firstTwo(output$)).seen).to.have.length(2);
    const before = [emitted(), reads.length];
    expect(before[0], 'inputs').to.equal(4);
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

      /** Returns the inputs that an event causes. */
      readonly take = (event: TestEvent): Input[] => {
        if (event === 'demand') this.#waiting++;
        else if (event === 'change') this.#values++;
        else if (event === 'lose') return this.#lose();
        else if (event === 'answer') return this.#answer();
        else {
          this.clock.advance(event.wait);
          return [];
        }
        return event === 'demand' ? [{ kind: 'demand' }] : [{ kind: 'changed' }];
      };

      checkOutput({ refresh }: ThrottleOutput): void {
        if (refresh !== undefined) {
          expect(this.#open, 'one refresh is open at a time').to.equal(undefined);
          this.#open = { mayRender: refresh.mayRender, demands: this.#waiting };
          this.#waiting = 0;
        }
      }

      /** Checks that all demands have been answered and all outdated texts rendered. */
      end(feed: (inputs: readonly Input[]) => void): void {
        for (let round = 0; round < 20; round++) {
          feed(this.#answer());
          this.clock.advance(SPACING_MS);
        }
        expect(this.#waiting, 'no demand waits').to.equal(0);
        expect(this.#open, 'no refresh is open').to.equal(undefined);
        expect(this.#oldSince, 'no served text is outdated').to.equal(undefined);
      }

      #answer(): Input[] {
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
        return [{ kind: 'refreshed', ...ready, snapshot: undefined, hasRendered, isDirty }];
      }

      #lose(): Input[] {
        this.#open = undefined;
        this.#waiting = 0;
        this.#rendered = -1;
        this.#renderedAt = -Infinity;
        this.#oldSince = undefined;
        return [{ kind: 'failed', reason: 'gone', state: unready.state }];
      }
    }

    it('keeps the interval, answers every demand, and renders again after each outdated text', () =>
      fc.assert(
        fc.property(testEvents, fc.nat(5), (script, lateMs) => {
          const clock = new LateClock(lateMs);
          const model = new Model(clock);
          const operator = throttleRenders(
            () => SPACING_MS,
            () => clock.now(),
            clock,
          );
          const feed = feeder(operator, (output) => {
            model.checkOutput(output);
          });
          for (const event of script) feed(model.take(event));
          model.end(feed);
        }),
        { numRuns: 500 },
      ));
  });
});

/** Feeds inputs into an operator one by one. */
function feeder(
  operator: OperatorFunction<Input, ThrottleOutput>,
  observe: (output: ThrottleOutput) => void,
): (inputs: readonly Input[]) => void {
  const input$ = new Subject<Input>();
  follow(input$.pipe(operator, map(observe)));
  return (inputs) => {
    for (const input of inputs) input$.next(input);
  };
}
