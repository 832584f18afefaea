// Tests processInputs: the tasks of a target, and the inputs that each task processes.
import { expect } from 'chai';
import fc from 'fast-check';
import { Subject, asyncScheduler, map, merge, takeUntil } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import type { StructureChange } from '#app/model.js';
import { processInputs } from '#app/streams/target-inputs.js';
import type { InputProcessing, PollInput, TargetInput } from '#app/streams/target-inputs.js';
import { TaskQueue } from '#app/streams/task-queue.js';
import { Scheduler } from '#app/streams/scheduler.js';
import { follow } from '../support/follow.js';
import { countedSource, firstTwo, marbles } from '../support/marbles.js';
import { root, pollResult } from '../support/poll-results.js';
import { VirtualClock } from '../support/virtual-clock.js';

/** A poll result that adds objects with these names. */
const change = (names: readonly string[], number: number): PollInput => ({
  kind: 'poll',
  pollResult: pollResult({
    changes: names.map((name): StructureChange => ({ kind: 'object-added', object: root(name) })),
    notifications: number,
    hasMore: number % 2 === 0,
  }),
  number,
});
const namesIn = ({ pollResult: { changes } }: PollInput): string[] =>
  changes.map((each) => (each.kind === 'object-added' ? each.object.name : ''));
const inputs = {
  b: { kind: 'bind' },
  c: change(['c'], 1),
  d: change(['d'], 2),
  e: change([], 3),
  R: { kind: 'refresh', mayRender: true },
} satisfies Record<string, TargetInput>;
/** Returns the letter of an input. For a poll result, returns the names that it adds and its number. */
const letter = (input: TargetInput): string => {
  if (input.kind !== 'poll') return input.kind === 'bind' ? 'b' : 'R';
  const { notifications, hasMore } = input.pollResult;
  expect([notifications, hasMore], 'the later result').to.deep.equal([
    input.number,
    input.number % 2 === 0,
  ]);
  return `${namesIn(input).join('')}${input.number}`;
};
const processed = { c: 'c1', d: 'd2', m: 'cd3', b: 'b', R: 'R' };

/** Returns a queue with `pauseMs` between event-loop iterations. If `isDivided`, each slice has one step. */
function queueIn(
  pauseMs: number,
  isDivided = false,
  clock: SchedulerLike = asyncScheduler,
): TaskQueue {
  let reads = 0;
  const now = () => clock.now();
  const tasks = new Scheduler(
    () => now() + (isDivided ? reads++ : 0),
    (next) => void clock.schedule(next, pauseMs),
  );
  return new TaskQueue(tasks, now);
}

/** Processes an input in two steps. */
const parts = (given: Partial<InputProcessing<string>> = {}): InputProcessing<string> => ({
  *process(input) {
    yield;
    return letter(input);
  },
  poll: () => undefined,
  isPageIncomplete: () => false,
  onTaskEnd: () => undefined,
  ...given,
});

describe('the input processor', () => {
  it(
    'processes all pending inputs in one task: structure first, then the refresh',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const pause = time('      ----|           ');
      const input$ = hot('      -R-c--bR-------|', inputs);
      const taken = '           -----(cR)-(bR)-|';
      const subscribed = '      ^--------------!';

      expectObservable(input$.pipe(processInputs(queueIn(pause), parts()))).toBe(taken, processed);
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'merges queued poll results: the last one gets the changes of all, in order',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      ----|      ');
      const input$ = hot('      -(bcde)---|', inputs);
      const taken = '           -----(bm)-|';

      expectObservable(input$.pipe(processInputs(queueIn(pause), parts()))).toBe(taken, processed);
    }),
  );

  it(
    'starts the next task after the last slice of the previous one',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      --|          ');
      const input$ = hot('      -c--R---------', inputs);
      const taken = '           -----c-----R--';

      expectObservable(input$.pipe(processInputs(queueIn(pause, true), parts()))).toBe(
        taken,
        processed,
      );
    }),
  );

  it(
    'polls again while the page of a refresh would be incomplete, and processes each poll result',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      ---|      ');
      const refresh$ = hot('    -R--------', inputs);
      const taken = '           ----(cccR)';
      const shown$ = new Subject<TargetInput>();
      let polls = 0;
      const poll = (): void => {
        polls++;
        shown$.next(inputs.c);
      };
      const taken$ = merge(refresh$, shown$).pipe(
        processInputs(queueIn(pause), parts({ poll, isPageIncomplete: () => polls < 3 })),
      );
      expectObservable(taken$).toBe(taken, processed);
    }),
  );

  it(
    'processes a refresh after a second, even if its page is still incomplete',
    marbles(({ hot, expectObservable }) => {
      const refresh$ = hot('R-', inputs);
      const taken$ = refresh$.pipe(
        processInputs(queueIn(400, true), parts({ isPageIncomplete: () => true })),
      );
      expectObservable(taken$).toBe('2s R');
    }),
  );

  it(
    'processes nothing more if the subscriber unsubscribes during the poll',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const pause = time('      ---|    ');
      const input$ = hot('      -Rc-----', inputs);
      const taken = '           ----|   ';
      const subscribed = '      ^---!   ';
      const lost$ = new Subject<void>();
      const taken$ = input$.pipe(
        processInputs(queueIn(pause), parts({ poll: () => lost$.next() })),
        takeUntil(lost$),
      );
      expectObservable(taken$).toBe(taken);
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'forwards an error',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      --|   ');
      const input$ = hot('      -c-#  ', inputs);
      const failing = parts({
        process: () => {
          throw new Error('torn');
        },
      });
      expectObservable(input$.pipe(processInputs(queueIn(9), parts()))).toBe('---#');
      const failed$ = hot('     -c----', inputs).pipe(processInputs(queueIn(pause), failing));
      expectObservable(failed$).toBe('---#', undefined, new Error('torn'));
    }),
  );

  it('stops when the consumer unsubscribes during the second emission', () => {
    const clock = new VirtualClock();
    const { source$, emitted } = countedSource([inputs.c, inputs.b, inputs.R]);
    const late$ = new Subject<TargetInput>();
    const steps: string[] = [];
    const process = function* (input: TargetInput): Generator<void, string> {
      steps.push(letter(input));
      yield;
      return letter(input);
    };
    const processed$ = merge(source$, late$).pipe(
      processInputs(queueIn(1, true, clock), parts({ process })),
    );
    const { seen } = follow(
      firstTwo(
        processed$.pipe(
          map((each) => {
            late$.next(inputs.R);
            return each;
          }),
        ),
      ),
    );
    clock.advance(1000);
    expect([seen, steps]).to.deep.equal([
      ['b', 'c1'],
      ['b', 'c1', 'R'],
    ]);
    expect([emitted(), late$.observed]).to.deep.equal([3, false]);
  });

  it('processes random inputs so that each change counts once, and a refresh comes after all earlier inputs', () => {
    const events = fc.array(
      fc.record({
        kind: fc.constantFrom(...(['poll', 'poll', 'bind', 'refresh'] as const)),
        changes: fc.nat(3),
        waitMs: fc.nat(40),
        /** The number of slices that the processing of the input takes. */
        slices: fc.integer({ min: 1, max: 5 }),
      }),
      { maxLength: 60, size: 'max' },
    );
    fc.assert(
      fc.property(events, (script) => {
        const clock = new VirtualClock();
        const input$ = new Subject<TargetInput>();
        const slicesOf = new Map<TargetInput['kind'], number>();
        /** All names that have been sent. `sentAt` has the number of names after each poll result. */
        const sent: string[] = [];
        const sentAt = [0];
        const done: string[] = [];
        let [polls, binds, boundTo, isOpen, isBusy] = [0, 0, 0, false, false];
        let before = { changes: 0, binds: 0 };
        const sendPoll = (changes: number): void => {
          const names = Array.from({ length: changes }, (_, i) => `${polls}.${i} `);
          sent.push(...names);
          sentAt.push(sent.length);
          input$.next(change(names, ++polls));
        };
        const process = function* (input: TargetInput): Generator<void, TargetInput> {
          expect(isBusy, 'one input at a time').to.equal(false);
          isBusy = true;
          if (input.kind === 'poll') {
            letter(input);
            done.push(...namesIn(input));
            expect(done).to.deep.equal(sent.slice(0, sentAt[input.number]));
          }
          if (input.kind === 'bind') boundTo = binds;
          if (input.kind === 'refresh') {
            expect(done.length, 'changes before the refresh').to.be.at.least(before.changes);
            expect(boundTo, 'binds before the refresh').to.be.at.least(before.binds);
          }
          for (let i = slicesOf.get(input.kind) ?? 1; i > 1; i--) yield;
          isBusy = false;
          return input;
        };
        const poll = (): void => {
          sendPoll(1);
          before = { changes: sent.length, binds };
        };
        const isPageIncomplete = () => false;
        const onTaskEnd = () => undefined;
        const processed$ = input$.pipe(
          processInputs(queueIn(5, true, clock), { process, poll, isPageIncomplete, onTaskEnd }),
          map((input) => {
            if (input.kind === 'refresh') isOpen = false;
          }),
        );
        const { subscription } = follow(processed$);
        for (const { kind, changes, waitMs, slices } of script) {
          slicesOf.set(kind, slices);
          if (kind === 'poll') sendPoll(changes);
          if (kind === 'bind') {
            binds++;
            input$.next(inputs.b);
          }
          if (kind === 'refresh' && !isOpen) {
            isOpen = true;
            input$.next(inputs.R);
          }
          clock.advance(waitMs);
        }
        clock.advance(10_000);
        expect(isOpen, 'an unanswered refresh').to.equal(false);
        expect([done, boundTo]).to.deep.equal([sent, binds]);
        subscription.unsubscribe();
      }),
      { numRuns: 100 },
    );
  });
});
