// Tests Scheduler: work in time slices, on a clock that each step advances.
import { expect } from 'chai';
import { Subscription, from, mergeMap } from 'rxjs';
import { Scheduler } from '#app/streams/scheduler.js';
import { follow } from '../support/follow.js';
import { firstTwo } from '../support/marbles.js';

function setUp() {
  const yielded: (() => void)[] = [];
  const log: string[] = [];
  let nowMs = 0;
  const scheduler = new Scheduler(
    () => nowMs,
    (next) => yielded.push(next),
  );
  /** Returns a task with this number of steps, each of which takes `ms`. */
  const steps = (name: string, count: number, ms: number) =>
    function* (): Generator<void, string> {
      for (let step = 1; step <= count; step++) {
        nowMs += ms;
        log.push(`${name}${step}`);
        if (step < count) yield;
      }
      return name;
    };
  return {
    scheduler,
    log,
    steps,
    run: (name: string, count = 1, ms = 0.25, isUrgent?: () => boolean) =>
      follow(scheduler.run(steps(name, count, ms), isUrgent)),
    /** Runs one event-loop iteration. Returns the steps that it ran, or undefined if none was scheduled. */
    iterate: (): string | undefined => {
      const [next, ...others] = yielded.splice(0);
      expect(others).to.deep.equal([]);
      const before = log.length;
      next?.();
      return next && log.slice(before).join(' ');
    },
  };
}

describe('the scheduler', () => {
  it('runs no task synchronously, and schedules no iteration after the last task', () => {
    const { run, log, iterate } = setUp();
    const { seen, subscription } = run('a');
    expect(log).to.deep.equal([]);
    expect(iterate()).to.equal('a1');
    expect(seen).to.deep.equal(['a']);
    expect(subscription.closed).to.equal(true);
    expect(iterate()).to.equal(undefined);
  });

  it('gives each task in turn a slice of a millisecond', () => {
    const { run, iterate } = setUp();
    run('a', 6);
    run('b', 5);
    expect(iterate()).to.equal('a1 a2 a3 a4');
    expect(iterate()).to.equal('b1 b2 b3 b4');
    expect(iterate()).to.equal('a5 a6');
    expect(iterate()).to.equal('b5');
    expect(iterate()).to.equal(undefined);
  });

  it('starts further slices only in the first half millisecond of an event-loop iteration', () => {
    const { run, scheduler, steps, iterate } = setUp();
    run('a');
    run('b');
    run('c');
    expect(iterate()).to.equal('a1 b1');
    scheduler.start(() => {
      follow(scheduler.run(steps('late', 1, 0)));
      return true;
    });
    expect(iterate()).to.equal('c1');
    expect(iterate()).to.equal('late1');
  });

  it('runs urgent tasks first, but gives any task a slice after a wait of ten milliseconds', () => {
    const { run, iterate } = setUp();
    run('a', 2, 1);
    run('b', 1, 1);
    for (const name of ['u', 'v', 'w', 'x']) run(name, 1, 4, () => true);
    const iterations = Array.from({ length: 8 }, iterate);
    expect(iterations).to.deep.equal(['u1', 'v1', 'w1', 'a1', 'x1', 'b1', 'a2', undefined]);
  });

  it('runs a task before others once a client waits for it', () => {
    const { run, iterate } = setUp();
    let isUrgent = false;
    run('a', 9, 1);
    run('b', 3, 1, () => isUrgent);
    expect([iterate(), iterate()]).to.deep.equal(['a1', 'b1']);
    isUrgent = true;
    expect([iterate(), iterate(), iterate()]).to.deep.equal(['b2', 'b3', 'a2']);
  });

  it('cancels a task between two slices', () => {
    const { run, iterate } = setUp();
    const { seen, subscription } = run('a', 9, 1);
    run('b');
    expect(iterate()).to.equal('a1');
    subscription.unsubscribe();
    expect(iterate()).to.equal('b1');
    expect(iterate()).to.equal(undefined);
    expect(seen).to.deep.equal([]);
  });

  it('runs no further step of a task that cancels itself', () => {
    const { scheduler, iterate } = setUp();
    let steps = 0;
    const cancel = scheduler.start(() => {
      if (++steps === 2) cancel();
      return false;
    });
    iterate();
    expect(steps).to.equal(2);
    expect(iterate()).to.equal(undefined);
  });

  it('stops when the consumer unsubscribes during the second emission', () => {
    const { scheduler, log, steps, iterate } = setUp();
    const all$ = from(['a', 'b', 'c']).pipe(mergeMap((name) => scheduler.run(steps(name, 1, 0.1))));
    const { seen } = follow(firstTwo(all$));
    iterate();
    expect(seen).to.deep.equal(['a', 'b']);
    expect(iterate()).to.equal(undefined);
    expect(log, 'steps').to.deep.equal(['a1', 'b1']);
  });

  it('runs no further step if the consumer unsubscribes during a step', () => {
    const { scheduler, iterate } = setUp();
    let steps = 0;
    const leaves = new Subscription();
    const task$ = scheduler.run(function* () {
      for (; steps < 9; yield) if (++steps === 2) leaves.unsubscribe();
    });
    leaves.add(follow(task$).subscription);
    iterate();
    expect(steps).to.equal(2);
    expect(iterate()).to.equal(undefined);
  });

  it('forwards an error of a task, and continues with the others', () => {
    const { run, scheduler, iterate } = setUp();
    const errors: unknown[] = [];
    const failing = function* (): Generator<void, void> {
      yield;
      throw new Error('torn');
    };
    scheduler.run(failing).subscribe({ error: (error: unknown) => errors.push(error) });
    scheduler.start(() => {
      throw new Error('a bug');
    });
    run('a');
    expect(iterate).to.throw('a bug');
    expect(errors.map(String)).to.deep.equal(['Error: torn']);
    expect(iterate()).to.equal('a1');
  });
});
