// Tests the tasks of ViewRefresher: the inputs that each task processes, in which order, and the polls of a refresh.
import { expect } from 'chai';
import fc from 'fast-check';
import { Subject, asyncScheduler, map } from 'rxjs';
import type { OperatorFunction, SchedulerLike } from 'rxjs';
import type { Snapshot, StructureChange } from '#app/model.js';
import type { PollResult } from '#app/streams/poller.js';
import { Scheduler, TaskQueue } from '#app/streams/scheduler.js';
import { ViewRefresher } from '#app/streams/view-refresher.js';
import type { RefreshableView, TargetInput } from '#app/streams/view-refresher.js';
import { follow } from '../support/follow.js';
import { marbles } from '../support/marbles.js';
import { root, pollResult } from '../support/poll-results.js';
import { runToEnd } from '#app/run-to-end.js';
import { snapshotOf } from '../support/snapshot-of.js';
import { VirtualClock } from '../support/virtual-clock.js';

/** A poll result that adds objects with these names. */
const adding = (names: readonly string[], notifications: number, hasMore = false): PollResult =>
  pollResult({
    changes: names.map((name): StructureChange => ({ kind: 'object-added', object: root(name) })),
    ...{ notifications, hasMore },
  });
const namesIn = (changes: readonly StructureChange[]): string[] =>
  changes.map((each) => (each.kind === 'object-added' ? each.object.name : ''));
const poll = (pollResult: PollResult): TargetInput => ({ kind: 'poll', pollResult });
const inputs = {
  b: { kind: 'bind' },
  c: poll(adding(['c'], 1)),
  d: poll(adding(['d'], 2)),
  e: poll(adding([], 3)),
  R: { kind: 'refresh', mayRender: true, forms: [] },
} satisfies Record<string, TargetInput>;
const taken = { c: 'c1', d: 'd2', m: 'cd3', b: 'b', R: 'R' };

/** A synced view that records added names and binds. */
class RecordingView implements RefreshableView {
  readonly isSynced = true;
  readonly hasMore = false;
  readonly hasObserved = false;
  readonly names: string[] = [];
  binds = 0;
  /** The number of steps of each copy. */
  steps = 1;
  bindMore(): boolean {
    this.binds++;
    return false;
  }
  applyChanges(changes: readonly StructureChange[]): void {
    this.names.push(...namesIn(changes));
  }
  *copyingValues(): Generator<void, boolean> {
    for (let step = 1; step < this.steps; step++) yield;
    return true;
  }
  observe(): boolean {
    return false;
  }
  readonly demand = () => undefined;
  readonly lacksForm = false;
  // eslint-disable-next-line require-yield -- it is done at once
  *rendering(): Generator<void, Snapshot> {
    return snapshotOf([]);
  }
}

type Result = ReturnType<ReturnType<ViewRefresher['task']>['next']>['value'];
type TaskResult = Exclude<Result, void>[number];

/** Returns the letter of a result. For a poll result, returns the names that it adds and its notifications. */
const letter = (result: TaskResult): string => {
  if (result.kind === 'lost') return 'lost';
  const { input } = result;
  if (input.kind !== 'poll') return input.kind === 'bind' ? 'b' : 'R';
  return `${namesIn(input.pollResult.changes).join('')}${input.pollResult.notifications}`;
};

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

const refresherOf = (view: RefreshableView, nowMs: () => number) =>
  new ViewRefresher(view, { hasChanges: () => false }, nowMs);

/** Runs tasks for inputs, as the pipeline does. @param poll polls for a refresh; by default it finds no new result */
const runTasks =
  (
    queue: TaskQueue,
    view = new RecordingView(),
    poll?: () => PollResult,
  ): OperatorFunction<TargetInput, TaskResult> =>
  (input$) => {
    const refresher = refresherOf(view, () => queue.nowMs);
    let last = pollResult();
    const steps = () => refresher.task(poll ?? (() => last));
    const isUrgent = () => refresher.hasRefresh;
    return input$.pipe(
      map((input) => {
        if (input.kind === 'poll') last = input.pollResult;
        refresher.add(input);
      }),
      queue.runTasks({ steps, isUrgent, onEnd: () => undefined }),
    );
  };

describe('the tasks of a view refresher', () => {
  it(
    'process all inputs so far: structure first, then the refresh',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      ----|           ');
      const input$ = hot('      -Rc----bR------|', inputs);
      const results = '         -----(cR)--(bR)|';

      expectObservable(input$.pipe(runTasks(queueIn(pause)), map(letter))).toBe(results, taken);
    }),
  );

  it(
    'merge poll results: the last one gets the changes of all, in order',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      ----|      ');
      const input$ = hot('      -(bcde)---|', inputs);
      const results = '         -----(bm)-|';

      expectObservable(input$.pipe(runTasks(queueIn(pause)), map(letter))).toBe(results, taken);
    }),
  );

  it(
    'leave inputs that arrive during a refresh to the next task',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      --|                   ');
      const input$ = hot('      -c--R---------d-------', inputs);
      const results = '         ---------c-------R---d';
      const view = new RecordingView();
      view.steps = 3;

      const task$ = input$.pipe(runTasks(queueIn(pause, true), view));
      expectObservable(task$.pipe(map(letter))).toBe(results, taken);
    }),
  );

  /** Returns the results of a refresh of a ready target. Each poll takes `pollMs`. */
  const refreshed = (poll: () => PollResult | undefined, pollMs = 0): string => {
    let nowMs = 0;
    const refresher = refresherOf(new RecordingView(), () => nowMs);
    refresher.add(inputs.c);
    runToEnd(refresher.task(poll));
    expect(refresher.isReady).to.equal(true);
    refresher.add(inputs.R);
    const results = runToEnd(
      refresher.task(() => {
        nowMs += pollMs;
        return poll();
      }),
    );
    expect(refresher.hasRefresh, 'until the refresh is processed').to.equal(
      results.at(-1)?.kind === 'lost',
    );
    return results.map(letter).join(' ');
  };
  /** Each poll finds another object. */
  const growing = (hasMore: (polls: number) => boolean) => {
    let polls = 0;
    return () => adding([`x${++polls}`], polls, hasMore(polls));
  };

  it('poll again while the page of a refresh would be incomplete, and process each poll result', () =>
    expect(refreshed(growing((polls) => polls < 3))).to.equal('x11 x22 x33 R'));

  it('process a refresh after a second, even if its page is still incomplete', () =>
    expect(
      refreshed(
        growing(() => true),
        300,
      ),
    ).to.equal('x11 x22 x33 x44 R'));

  it('do not process a poll result twice', () => {
    const result = adding(['x'], 1);
    expect(refreshed(() => result)).to.equal('x1 R');
  });

  it('end when the poll of a refresh finds no root, and report what they have processed before', () => {
    const poll = growing(() => true);
    let polls = 0;
    expect(refreshed(() => (++polls > 2 ? undefined : poll()))).to.equal('x11 x22 lost');
  });

  it('process random inputs so that each change counts once, and a refresh comes after all earlier inputs', () => {
    const events = fc.array(
      fc.record({
        kind: fc.constantFrom(...(['poll', 'poll', 'bind', 'refresh'] as const)),
        changes: fc.nat(3),
        waitMs: fc.nat(40),
        /** The number of steps of the next copies. */
        steps: fc.integer({ min: 1, max: 5 }),
      }),
      { maxLength: 60, size: 'max' },
    );
    fc.assert(
      fc.property(events, (script) => {
        const clock = new VirtualClock();
        const input$ = new Subject<TargetInput>();
        const view = new RecordingView();
        /** All names that have been sent. `sentAt` has the number of names after each poll result. */
        const sent: string[] = [];
        const sentAt = [0];
        let [polls, binds, isOpen] = [0, 0, false];
        let [changesBefore, bindsBefore] = [0, 0];
        const nextPoll = (changes: number): PollResult => {
          const names = Array.from({ length: changes }, (_, i) => `${polls}.${i} `);
          sent.push(...names);
          sentAt.push(sent.length);
          return adding(names, ++polls);
        };
        const pollForRefresh = (): PollResult => {
          const result = nextPoll(1);
          [changesBefore, bindsBefore] = [sent.length, view.binds];
          return result;
        };
        const received: string[] = [];
        const result$ = input$.pipe(
          runTasks(queueIn(5, true, clock), view, pollForRefresh),
          map((result) => {
            if (result.kind === 'lost') expect.fail('the root is not lost');
            const { input } = result;
            if (input.kind === 'poll') {
              received.push(...namesIn(input.pollResult.changes));
              const { notifications } = input.pollResult;
              expect(received).to.deep.equal(sent.slice(0, sentAt[notifications]));
            }
            if (input.kind !== 'refresh') return;
            isOpen = false;
            expect(received.length, 'changes before').to.be.at.least(changesBefore);
            expect(view.binds, 'binds before').to.be.at.least(bindsBefore);
          }),
        );
        const { subscription } = follow(result$);
        for (const { kind, changes, waitMs, steps } of script) {
          view.steps = steps;
          if (kind === 'poll') input$.next(poll(nextPoll(changes)));
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
        expect([received, view.names]).to.deep.equal([sent, sent]);
        expect(view.binds > 0).to.equal(binds > 0);
        subscription.unsubscribe();
      }),
      { numRuns: 100 },
    );
  });
});
