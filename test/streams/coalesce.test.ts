// Demand-driven renders and their spacing. Spec 1.9, design 3.
import { expect } from 'chai';
import fc from 'fast-check';
import { Subject, asyncScheduler, filter, map, of } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { newCounters } from '#app/exposition/counters.js';
import { coalesce } from '#app/streams/coalesce.js';
import type { Decision, Demand } from '#app/streams/coalesce.js';
import { unknownFacts } from '#app/streams/report.js';
import type { Report } from '#app/streams/report.js';
import { follow } from '../support/follow.js';
import { marbles } from '../support/marbles.js';
import { VirtualClock } from '../support/virtual-clock.js';

type Input = Demand | Report;

const counted = { refreshesMs: [], counts: newCounters() };
const ready = { facts: { ...unknownFacts('82'), isReady: true }, ...counted };
const unready = { facts: unknownFacts('82'), ...counted };
const none = { hasRendered: false, isDirty: false, snapshot: undefined };

/** Letters of reports: `r`endered, un`c`hanged, `o`ld text served, `n`ot ready. */
const inputs = {
  d: { kind: 'demand' },
  C: { kind: 'changed' },
  r: { kind: 'refreshed', ...ready, ...none, hasRendered: true },
  c: { kind: 'refreshed', ...ready, ...none },
  o: { kind: 'refreshed', ...ready, ...none, isDirty: true },
  n: { kind: 'refreshed', ...unready, ...none },
  f: { kind: 'facts', ...ready },
  N: { kind: 'facts', ...unready },
  s: { kind: 'switched', facts: ready.facts },
  S: { kind: 'switched', facts: unready.facts },
  x: { kind: 'failed', reason: 'gone' },
} as const satisfies Record<string, Input>;

/** Decisions in short: `M` a refresh that may render, `m` one that may not; `D` a deferral, in milliseconds. */
const told = ({ refresh, deferral }: Decision): string =>
  [
    refresh === undefined ? '' : refresh.mayRender ? 'M' : 'm',
    deferral === undefined ? '' : `D${deferral.ms}`,
  ].join('');
const decided =
  (spacingMs: number, now = () => asyncScheduler.now()) =>
  (input$: Observable<Input>) =>
    input$.pipe(
      coalesce(() => spacingMs, now),
      map(told),
      filter((text) => text !== ''),
    );

describe('coalesce', () => {
  const values = {
    ...{ M: 'M', m: 'm', a: 'D2', b: 'D3', e: 'D6', f: 'D7' },
  };
  const pictures = [
    {
      sentence: 'a demand has a refresh that may render, if the last render is old enough',
      spacing: '-----|',
      arrived: '-d-r----d--c-d-r-',
      wanted: '-M------M----M---',
    },
    {
      sentence: 'inside the spacing a demand may not render, and one render is deferred to its end',
      spacing: '-----|',
      arrived: '-d-r-do--r--',
      wanted: '-M---ma-M---',
    },
    {
      sentence: 'demands inside the spacing share one deferred render',
      spacing: '-----|',
      arrived: '-d-rdodo-r--',
      wanted: '-M--mbm-M---',
    },
    {
      sentence: 'an unchanged text is owed no render',
      spacing: '-----|',
      arrived: '-d-r-dc---------',
      wanted: '-M---m----------',
    },
    {
      sentence: 'demands that come while a refresh is open share the next',
      spacing: '-----|',
      arrived: '-d-ddd-r---c----',
      wanted: '-M-----m--------',
    },
    {
      sentence: 'a deferred render is dropped when a demand was faster',
      spacing: '-----|',
      arrived: '-d-r-do-(dr)',
      wanted: '-M---ma-M---',
    },
    {
      sentence: 'an earlier deferral does not end the present one',
      spacing: '---------|',
      arrived: '-dr-doNdrdo-------',
      wanted: '-M--me-M-mf------M',
    },
    {
      sentence: 'a deferred render waits for the refresh that is open',
      spacing: '-----|',
      arrived: '-d-r-dod--o-',
      wanted: '-M---mam--M-',
    },
    {
      sentence: 'a render for a demand makes up for a deferral that ends meanwhile',
      spacing: '-----|',
      arrived: '-d-r-do-d-r--',
      wanted: '-M---ma-M----',
    },
    {
      sentence: 'a refresh that finds the target not ready leaves no last render',
      spacing: '-----|',
      arrived: '-d-r-dnd--',
      wanted: '-M---m-M--',
    },
    {
      sentence: 'no demand, no refresh',
      spacing: '-----|',
      arrived: 'CCfC---C--------',
      wanted: '----------------',
    },
    {
      sentence: 'with 0 every change renders',
      spacing: '|',
      arrived: '-C-r-C-r-d-c----',
      wanted: '-M---M---M------',
    },
    {
      sentence: 'with 0 a change that comes while a refresh is open has one of its own',
      spacing: '|',
      arrived: '-d-CC-r---r-----',
      wanted: '-M----M---------',
    },
    {
      sentence: 'before the first full sync nothing is owed',
      spacing: '-----|',
      arrived: '-d-n-d-n--------',
      wanted: '-M---M----------',
    },
    {
      sentence: 'what is not ready any more has no last render, and owes none',
      spacing: '-----|',
      arrived: '-d-r-doN--d-',
      wanted: '-M---ma---M-',
    },
    {
      sentence: 'another hosting keeps the spacing and the deferred render',
      spacing: '-----|',
      arrived: '-d-r-dos-r--',
      wanted: '-M---ma-M---',
    },
    {
      sentence: 'a hosting that is not ready has no last render',
      spacing: '-----|',
      arrived: '-d-r-doS--d-',
      wanted: '-M---ma---M-',
    },
    {
      sentence: 'a target that got ready anew has no text to serve, so the refresh is repeated',
      spacing: '-----|',
      arrived: '-d-r-dNo----',
      wanted: '-M---m-M----',
    },
    {
      sentence: 'a refresh that will not be answered makes room for the next',
      spacing: '-----|',
      arrived: '-d-d-x-d--------',
      wanted: '-M-----M--------',
    },
  ];
  for (const { sentence, spacing, arrived, wanted } of pictures)
    it(
      sentence,
      marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
        const input$ = hot(arrived, inputs);
        const leaves = `      ^${'-'.repeat(18)}!`;

        expectObservable(input$.pipe(decided(time(spacing))), leaves).toBe(wanted, values);
        expectSubscriptions(input$.subscriptions).toBe(leaves);
      }),
    );

  it(
    'completes with its source',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const input$ = hot(' -d-r-|', inputs);
      const subscribed = '   ^----!';
      expectObservable(input$.pipe(decided(5))).toBe('-M---|', values);
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'passes an error on',
    marbles(({ hot, expectObservable }) => {
      expectObservable(hot(' -d-#', inputs).pipe(decided(5))).toBe('-M-#', values);
    }),
  );

  it(
    'takes a source that has everything at once',
    marbles(({ expectObservable }) => {
      const { d, r, o } = inputs;
      expectObservable(of(d, r, d, o, d).pipe(decided(6))).toBe('(Mmem)|', values);
    }),
  );

  describe('whatever the order of demands, changes, answers and late timers', () => {
    const SPACING_MS = 10;
    type Happening = 'demand' | 'change' | 'answer' | 'lose' | { readonly wait: number };
    const happenings = fc.array(
      fc.oneof(
        fc.constantFrom<Happening>('demand', 'demand', 'change', 'answer', 'answer', 'lose'),
        fc.record({ wait: fc.integer({ min: 1, max: 12 }) }),
      ),
      { maxLength: 60 },
    );

    /** A clock whose timers are late. */
    class LateClock extends VirtualClock {
      constructor(private readonly lateMs: number) {
        super();
      }
      override schedule: VirtualClock['schedule'] = (work, delay = 0, state) =>
        super.schedule(work, delay + this.lateMs, state);
    }

    /** A partition that answers when it is told to. */
    class Model {
      /** Number of changes of the values; which of them was rendered last. */
      #values = 0;
      #rendered = -1;
      #renderedAt = -Infinity;
      #open: { readonly mayRender: boolean; readonly demands: number } | undefined;
      #waiting = 0;
      /** Since when a served text is known to be old, while no render made up for it. */
      #oldSince: number | undefined;

      constructor(private readonly clock: VirtualClock) {}

      /** What arrives when something happens. */
      readonly take = (happening: Happening): Input[] => {
        if (happening === 'demand') this.#waiting++;
        else if (happening === 'change') this.#values++;
        else if (happening === 'lose') return this.#lose();
        else if (happening === 'answer') return this.#answer();
        else {
          this.clock.advance(happening.wait);
          return [];
        }
        return happening === 'demand' ? [{ kind: 'demand' }] : [{ kind: 'changed' }];
      };

      hear({ refresh }: Decision): void {
        if (refresh !== undefined) {
          expect(this.#open, 'one refresh is open at a time').to.equal(undefined);
          this.#open = { mayRender: refresh.mayRender, demands: this.#waiting };
          this.#waiting = 0;
        }
      }

      /** Nothing is forgotten: who waits is asked for, what is old is rendered once it may be. */
      end(feed: (inputs: readonly Input[]) => void): void {
        for (let round = 0; round < 20; round++) {
          feed(this.#answer());
          this.clock.advance(SPACING_MS);
        }
        expect(this.#waiting, 'nobody waits').to.equal(0);
        expect(this.#open, 'no refresh is open').to.equal(undefined);
        expect(this.#oldSince, 'an old text that was served is made up for').to.equal(undefined);
      }

      #answer(): Input[] {
        const open = this.#open;
        if (open === undefined) return [];
        this.#open = undefined;
        const wasDirty = this.#rendered !== this.#values;
        const hasRendered = open.mayRender && wasDirty;
        if (hasRendered) {
          expect(this.clock.now() - this.#renderedAt, 'the spacing is kept').to.be.at.least(
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
        return [{ kind: 'failed', reason: 'gone' }];
      }
    }

    it('keeps the spacing, answers everybody, and makes up for each old text', () =>
      fc.assert(
        fc.property(happenings, fc.nat(5), (script, lateMs) => {
          const clock = new LateClock(lateMs);
          const model = new Model(clock);
          const stage = coalesce(
            () => SPACING_MS,
            () => clock.now(),
            clock,
          );
          const feed = feeder(stage, (decision) => {
            model.hear(decision);
          });
          for (const happening of script) feed(model.take(happening));
          model.end(feed);
        }),
        { numRuns: 500 },
      ));
  });
});

/** Feeds inputs into an operator one by one. */
function feeder(
  stage: OperatorFunction<Input, Decision>,
  hear: (decision: Decision) => void,
): (inputs: readonly Input[]) => void {
  const input$ = new Subject<Input>();
  follow(input$.pipe(stage, map(hear)));
  return (inputs) => {
    for (const input of inputs) input$.next(input);
  };
}
