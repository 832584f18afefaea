// Tests repeatPoll: it polls after a wait, or earlier on request.
import { expect } from 'chai';
import { asyncScheduler, finalize } from 'rxjs';
import type { SchedulerLike, Subscription } from 'rxjs';
import { repeatPoll } from '#app/streams/poll.js';
import { Scheduler } from '#app/streams/scheduler.js';
import { firstTwo, marbles } from '../support/marbles.js';

describe('repeated polling', () => {
  /** Returns a poll function that numbers its calls: '1', '2' and so on. */
  const counting = () => {
    let polls = 0;
    return () => String(++polls);
  };

  it(
    'polls at once, and after each result waits for the time that the result requests',
    marbles(({ expectObservable }) => {
      const waits: Record<string, number> = { '1': 2, '2': 4, '3': 1 };
      const seen$ = repeatPoll(
        counting(),
        (seen) => waits[seen] ?? 100,
        () => undefined,
      );
      const leaves = '^---------!';
      const polls = ' 1-2---34---';

      expectObservable(seen$, leaves).toBe(polls);
    }),
  );

  it(
    'polls at once on request, and then restarts the wait',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const call$ = hot('   --x-----------');
      const wait = time('   -----|        ');
      //                      -----|
      //                           -----|
      const leaves = '      ^------------!';
      const polls = '       1-2----3----4-';
      const subscribed = ['^-!           ', '--^----!      ', '-------^----!', '------------^!'];

      const seen$ = repeatPoll(
        counting(),
        () => wait,
        (_, next) =>
          call$.subscribe({ next, error: (error: unknown) => expect.fail(String(error)) }),
        asyncScheduler,
      );
      expectObservable(seen$, leaves).toBe(polls);
      expectSubscriptions(call$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'keeps the timer if a request does not change the due time',
    marbles(({ hot, expectObservable }) => {
      const call$ = hot(' --x--x--------');
      const due = [6, 13];
      const leaves = '   ^-------------!';
      const polls = '    1-2--34------5-';
      const scheduled: number[] = [];
      const schedule = asyncScheduler.schedule.bind(asyncScheduler) as (
        ...given: unknown[]
      ) => Subscription;
      const counted: SchedulerLike = {
        now: () => asyncScheduler.now(),
        schedule: (...given: unknown[]) => {
          scheduled.push(asyncScheduler.now() + Number(given[1]));
          return schedule(...given);
        },
      };
      const seen$ = repeatPoll(
        counting(),
        () => (due.find((at) => at > asyncScheduler.now()) ?? 100) - asyncScheduler.now(),
        (_, next) =>
          call$.subscribe({ next, error: (error: unknown) => expect.fail(String(error)) }),
        counted,
      );
      expectObservable(
        seen$.pipe(finalize(() => expect(scheduled).to.deep.equal([6, 13, 100]))),
        leaves,
      ).toBe(polls);
    }),
  );

  it(
    'ends with the error of a poll',
    marbles(({ expectObservable }) => {
      const poll = counting();
      const seen$ = repeatPoll(
        () => {
          const seen = poll();
          if (seen === '3') throw new Error('blind');
          return seen;
        },
        () => 2,
        () => undefined,
      );
      expectObservable(seen$).toBe('1-2-#', undefined, new Error('blind'));
    }),
  );

  it(
    'polls for each subscriber separately',
    marbles(({ expectObservable }) => {
      const seen$ = repeatPoll(
        counting(),
        () => 3,
        () => undefined,
      );
      expectObservable(seen$, '^---!').toBe('1--3');
      expectObservable(seen$, '-^---!').toBe('-2--4');
    }),
  );

  it('stops when the consumer unsubscribes during the second emission', () => {
    let [polls, waits] = [0, 0];
    const poll = () => {
      // An operator that does not stop would poll forever.
      if (++polls > 9) throw new Error('it goes on');
      return String(polls);
    };
    const tasks = new Scheduler(
      () => asyncScheduler.now(),
      (next) => void asyncScheduler.schedule(next, 1),
    );
    for (const ms of [2, 0]) {
      [polls, waits] = [0, 0];
      marbles(({ expectObservable }) => {
        const seen$ = repeatPoll(
          poll,
          () => ms,
          () => {
            waits++;
          },
          asyncScheduler,
          tasks,
        );
        expectObservable(firstTwo(seen$)).toBe(ms > 0 ? '1-(2|)' : '1(2|)');
      })();
      expect([polls, waits], `polls and waits with ${ms} ms between them`).to.deep.equal([2, 1]);
    }
  });
});
