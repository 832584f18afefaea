// Tests TaskQueue: the measured times of tasks. Spec 2.5.
import { expect } from 'chai';
import { mergeMap, range } from 'rxjs';
import { TaskQueue } from '#app/streams/task-queue.js';
import { Scheduler } from '#app/streams/scheduler.js';
import { follow } from '../support/follow.js';
import { firstTwo } from '../support/marbles.js';

describe('a refresh queue', () => {
  it('measures how long a refresh waits, and how long its steps run without the pauses between them', () => {
    let nowMs = 1000;
    const now = () => nowMs;
    const others = (next: () => void): void => {
      nowMs += 100; // other tasks
      next();
    };
    const queue = new TaskQueue(new Scheduler(now, others), now);
    const sinceMs = queue.nowMs;
    expect(queue.busyIdleRatio).to.equal(0);
    const steps = function* (): Generator<void, string> {
      nowMs += 5;
      yield;
      nowMs += 20;
      return 'done';
    };
    const took: number[] = [];
    const onEnd = (ms: number) => took.push(ms);
    const task = { steps, sinceMs, isUrgent: () => false, onEnd };
    expect(follow(queue.run(task)).seen).to.deep.equal(['done']);
    expect(queue.waits).to.deep.include({ count: 1, sum: 100 });
    expect(took).to.deep.equal([25]);
    expect(queue.busyIdleRatio).to.equal(25 / 200);
  });

  it('stops when the consumer unsubscribes during the second emission', () => {
    const next: (() => void)[] = [];
    const now = () => 0;
    const queue = new TaskQueue(new Scheduler(now, (run) => next.push(run)), now);
    let ends = 0;
    const parts = { sinceMs: 0, isUrgent: () => false, onEnd: () => ends++ };
    const steps = function* (): Generator<void, string> {
      yield;
      return 'done';
    };
    const all$ = range(0, 3).pipe(mergeMap(() => queue.run({ ...parts, steps })));
    const { seen } = follow(firstTwo(all$));
    while (next.length > 0) next.shift()?.();
    expect([seen, ends, queue.waits.count]).to.deep.equal([['done', 'done'], 2, 2]);
  });
});
