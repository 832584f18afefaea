// Tests TaskQueue: it runs one task at a time, and measures tasks. Spec 2.5.
import { expect } from 'chai';
import { Subject, asyncScheduler, map, of } from 'rxjs';
import { TaskQueue, Scheduler } from '#app/streams/scheduler.js';
import type { TaskTimes } from '#app/streams/scheduler.js';
import { follow } from '../support/follow.js';
import { firstTwo, marbles } from '../support/marbles.js';

const isUrgent = () => false;
const onEnd = () => undefined;

describe('a queue of tasks', () => {
  it('measures how long a task waits, and how long its steps run without the pauses between them', () => {
    let nowMs = 1000;
    const now = () => nowMs;
    const others = (next: () => void): void => {
      nowMs += 100; // other tasks
      next();
    };
    const queue = new TaskQueue(new Scheduler(now, others), now);
    expect(queue.busyIdleRatio).to.equal(0);
    const steps = function* (): Generator<void, string[]> {
      nowMs += 5;
      yield;
      nowMs += 20;
      return ['done'];
    };
    const took: number[] = [];
    const task = { steps, isUrgent, onEnd: ({ tookMs }: TaskTimes) => took.push(tookMs) };
    expect(follow(of('input').pipe(queue.runTasks(task))).seen).to.deep.equal(['done']);
    expect(queue.waits).to.deep.include({ count: 1, sum: 100 });
    expect(took).to.deep.equal([25]);
    expect(queue.busyIdleRatio).to.equal(25 / 200);
  });

  /** Returns a queue whose slices have one step. The event loop takes `pauseMs` between two slices. */
  const queueIn = (pauseMs: number): TaskQueue => {
    let reads = 0;
    const now = () => asyncScheduler.now();
    const yieldTo = (next: () => void) => void asyncScheduler.schedule(next, pauseMs);
    return new TaskQueue(new Scheduler(() => now() + reads++, yieldTo), now);
  };

  /** Each task has two steps, and returns the inputs that have arrived before its start. */
  const collecting = (pauseMs: number, queue = queueIn(pauseMs)) => {
    const arrived: string[] = [];
    const steps = function* (): Generator<void, string[]> {
      const inputs = arrived.splice(0);
      yield;
      return inputs;
    };
    return {
      queue,
      add: (input: string) => arrived.push(input),
      operator: queue.runTasks({ steps, isUrgent, onEnd }),
    };
  };

  it(
    'runs one task at a time for all inputs so far, and completes after the last task',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const pause = time(' --|         ');
      const input$ = hot(' -ab-c-d|    ');
      const results = '    -----(ab)(cd|)';
      const subscribed = ' ^------!    ';
      const { add, operator } = collecting(pause);
      expectObservable(input$.pipe(map(add), operator)).toBe(results);
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'measures the wait from the arrival of the first input of each task',
    marbles(({ hot, time, flush }) => {
      const pause = time(' --|      ');
      const input$ = hot(' -a--bc---');
      const { queue, add, operator } = collecting(pause);
      const { subscription } = follow(input$.pipe(map(add), operator));
      flush();
      subscription.unsubscribe();
      // The second task starts at 7.
      expect(queue.waits).to.deep.include({ count: 2, sum: 2 + 3 });
    }),
  );

  it(
    'forwards an error of its source and of a task',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const pause = time(' --|   ');
      const input$ = hot(' -c-#  ');
      const healthy = collecting(9);
      expectObservable(input$.pipe(map(healthy.add), healthy.operator)).toBe('---#');
      // eslint-disable-next-line require-yield -- it fails at once
      const steps = function* (): Generator<void, string[]> {
        throw new Error('torn');
      };
      const failing = queueIn(pause).runTasks({ steps, isUrgent, onEnd });
      const late$ = hot('  -c----');
      expectObservable(late$.pipe(failing)).toBe('---#', undefined, new Error('torn'));
      expectSubscriptions(late$.subscriptions).toBe('^--!');
    }),
  );

  it('stops when the consumer unsubscribes during the second emission', () => {
    const next: (() => void)[] = [];
    const now = () => 0;
    const queue = new TaskQueue(new Scheduler(now, (run) => next.push(run)), now);
    const input$ = new Subject<number>();
    let steps = 0;
    const task = {
      *steps(): Generator<void, number[]> {
        steps++;
        yield;
        return [steps];
      },
      ...{ isUrgent, onEnd },
    };
    const result$ = input$.pipe(
      queue.runTasks(task),
      map((result) => {
        input$.next(result);
        return result;
      }),
    );
    const { seen } = follow(firstTwo(result$));
    input$.next(0);
    while (next.length > 0) next.shift()?.();
    expect([seen, steps, input$.observed]).to.deep.equal([[1, 2], 2, false]);
  });
});
