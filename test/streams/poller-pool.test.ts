// Tests the shared pool of pollers on real segments, in virtual time.
import { expect } from 'chai';
import { VirtualTimeScheduler, ignoreElements, map, merge, tap } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { FutexWaiter } from '#app/native/os/futex-waiter.js';
import { canWaitOnFutexes } from '#app/native/os/libc.js';
import { posixMemory } from '#app/native/os/posix.js';
import { segmentPollers } from '#app/native/segment/segment-poller.js';
import { ACTIVE_POLL_MS, IDLE_AFTER_MS, IDLE_POLL_MS } from '#app/streams/poll.js';
import { PollerPool } from '#app/streams/poller-pool.js';
import type { PollResult } from '#app/streams/poller.js';
import { CountingMemory } from '../support/counting-memory.js';
import { eventually } from '../support/eventually.js';
import { follow } from '../support/follow.js';
import { firstTwo, marbles } from '../support/marbles.js';
import { needs } from '../support/needs.js';
import { Publishers } from '../support/publishers.js';
import { VirtualClock } from '../support/virtual-clock.js';

describe('a pool of pollers', () => {
  const publishers = new Publishers();
  let memory = new CountingMemory();
  beforeEach(() => {
    memory = new CountingMemory();
  });
  afterEach(() => publishers.closeAll());

  const newPool = (scheduler?: SchedulerLike) =>
    new PollerPool({
      makePoller: segmentPollers(memory, { contextId: publishers.contextId, poolName: 'pool' }),
      scheduler,
    });
  const states = (polls$: Observable<PollResult>) =>
    polls$.pipe(map((seen) => seen.publisher.state));
  const notifications = (polls$: Observable<PollResult>) =>
    polls$.pipe(map((seen) => String(seen.notifications)));
  const state = { a: 'absent', l: 'live', c: 'closed' };
  /** Runs the steps of a marble diagram and emits nothing. */
  const doing = (step$: Observable<() => void>) =>
    step$.pipe(
      tap((step) => {
        step();
      }),
      ignoreElements(),
    );

  it(
    'emits the states of a publisher that opens, closes and opens again',
    marbles(({ hot, expectObservable }) => {
      let publisher = publishers.make('82');
      const step$ = hot('   250ms p 349ms c 399ms n', {
        p: () => {
          publisher.place();
        },
        c: () => {
          publisher.close();
        },
        n: () => {
          publisher = publishers.withRoot('82', 'H.1.ads');
        },
      });
      const leaves = '      1401ms !';
      const pollResults = '   a 299ms l 299ms c 99ms a 299ms l';

      const polls$ = newPool().pollResult$('82');
      expectObservable(merge(states(polls$), doing(step$)), leaves).toBe(pollResults, state);
    }),
  );

  it(
    'polls a segment, and emits nothing while nothing changes',
    marbles(({ hot, expectObservable }) => {
      const publisher = publishers.withRoot('82', 'H.1.ads');
      const step$ = hot('   150ms t 249ms t', {
        t: () => {
          publisher.notify();
        },
      });
      const leaves = '      900ms !';
      const pollResults = '   0 199ms 1 199ms 2';

      const polls$ = newPool().pollResult$('82');
      expectObservable(merge(notifications(polls$), doing(step$)), leaves).toBe(pollResults);
    }),
  );

  it(
    'polls on request, and emits the result before the request returns',
    marbles(({ hot, expectObservable }) => {
      const publisher = publishers.withRoot('82', 'H.1.ads');
      const pool = newPool();
      let newest = '';
      const results: string[] = [];
      const step$ = hot('   42ms t', {
        t: () => {
          publisher.notify();
          pool.poll('82');
          results.push(newest);
        },
      });
      const polls$ = notifications(pool.pollResult$('82')).pipe(tap((number) => (newest = number)));

      expectObservable(merge(polls$, doing(step$)), '80ms !').toBe('0 41ms 1');
      expectObservable(step$.pipe(map(() => results.join()))).toBe('42ms 1');
    }),
  );

  it(
    'emits the last poll result to a late subscriber, without a further poll',
    marbles(({ expectObservable }) => {
      publishers.withRoot('82', 'H.1.ads');
      const polls$ = newPool().pollResult$('82');
      expectObservable(states(polls$), '50ms !').toBe('l', state);
      expectObservable(states(polls$), '20ms ^ 29ms !').toBe('20ms l', state);
      expectObservable(polls$.pipe(map(() => memory.asked)), '30ms ^!').toBe('30ms 1', { 1: 1 });
    }),
  );

  it(
    'emits a notification only to urgent subscribers, but the end of a publisher to all subscribers',
    marbles(({ hot, expectObservable }) => {
      const publisher = publishers.withRoot('82', 'H.1.ads');
      let isUrgent = false;
      const step$ = hot('   150ms t 2249ms u 299ms t 349ms c', {
        t: () => {
          publisher.notify();
        },
        u: () => {
          isUrgent = true;
        },
        c: () => {
          publisher.close();
        },
      });
      const leaves = '      3150ms !';
      const polls$ = newPool().pollResult$('82', () => isUrgent);
      const seen$ = polls$.pipe(
        map(({ notifications, publisher: { state } }) => `${notifications} ${state}`),
      );
      const seen = { a: '0 live', c: '2 live', d: '0 closed' };
      expectObservable(merge(seen$, doing(step$)), leaves).toBe('a 2999ms c 99ms d', seen);
    }),
  );

  it('closes a segment when its last subscriber leaves, and opens the segment again for the next subscriber', () => {
    publishers.withRoot('82', 'H.1.ads');
    const polls$ = newPool().pollResult$('82');
    const first = follow(states(polls$));
    const second = follow(states(polls$));
    expect(memory.isOpen).to.equal(1);
    first.subscription.unsubscribe();
    expect(memory.isOpen).to.equal(1);
    second.subscription.unsubscribe();
    expect(memory.isOpen).to.equal(0);
    const third = follow(states(polls$));
    expect(memory.isOpen).to.equal(1);
    third.subscription.unsubscribe();
    expect(memory.isOpen).to.equal(0);
    expect(third.seen).to.deep.equal(['live']);
  });

  it('polls each server key separately', () => {
    publishers.withRoot('82', 'H.1.ads');
    publishers.withRoot('456', 'H.2.ads');
    const pool = newPool();
    const roots = ['82', '456', '999'].map((key) => {
      const { seen, subscription } = follow(pool.pollResult$(key));
      const { state } = pool.publisher(key);
      subscription.unsubscribe();
      const names = [...(seen[0]?.source?.roots ?? [])].map(({ name }) => name);
      return [...names, state].join(' ');
    });
    expect(roots).to.deep.equal(['H.1.ads live', 'H.2.ads live', 'absent']);
  });

  it('emits results to all subscribers in the same order, even if a subscriber polls during an emission', () => {
    const publisher = publishers.withRoot('82', 'H.1.ads');
    const pool = newPool();
    const pollAgain = (seen: PollResult): number => {
      if (seen.notifications === 1) {
        publisher.notify();
        pool.poll('82');
      }
      return seen.notifications;
    };
    const first = follow(pool.pollResult$('82').pipe(map(pollAgain)));
    const second = follow(pool.pollResult$('82').pipe(map(({ notifications }) => notifications)));
    publisher.notify();
    pool.poll('82');
    pool.poll('82');
    expect(first.seen).to.deep.equal([0, 1, 2]);
    expect(second.seen).to.deep.equal([0, 1, 2]);
    for (const { subscription } of [first, second]) subscription.unsubscribe();
  });

  it('stops when the consumer unsubscribes during the second emission', () => {
    const publisher = publishers.withRoot('82', 'H.1.ads');
    const scheduler = new VirtualClock();
    const pool = newPool(scheduler);
    const stays = follow(notifications(pool.pollResult$('82', () => false)));
    const leaves = follow(firstTwo(notifications(pool.pollResult$('82'))));
    publisher.notify();
    pool.poll('82');
    expect([leaves.seen, leaves.subscription.closed]).to.deep.equal([['0', '1'], true]);
    publisher.notify();
    scheduler.advance(IDLE_POLL_MS);
    expect(stays.seen, 'no other subscriber is urgent').to.deep.equal(['0', '1']);
    stays.subscription.unsubscribe();
    // The last subscriber unsubscribes during an emission.
    const last = follow(firstTwo(notifications(pool.pollResult$('82'))));
    publisher.notify();
    pool.poll('82');
    expect([last.seen, memory.isOpen, pool.isIdle]).to.deep.equal([['2', '3'], 0, true]);
    const { asked } = memory;
    scheduler.advance(10 * IDLE_POLL_MS);
    expect(memory.asked).to.equal(asked);
  });

  it('does not poll a server key without a subscriber', () => {
    const pool = newPool();
    pool.poll('82');
    expect(memory.asked).to.equal(0);
    expect(pool.publisher('82')).to.deep.equal({
      state: 'absent',
      reason: 'its segment has not been polled yet',
    });
    expect(pool.drops('82')).to.deep.equal({ objects: 0, variables: 0 });
  });

  it('reports the items that a publisher dropped', () => {
    const publisher = publishers.make('82', { capacity: { slots: 4 } });
    const root = publisher.addRoot('H.1.ads', 'Root');
    for (let i = 0; i < 7; i++) publisher.addVariable(root, `v${i}`, 'u64');
    publisher.place();
    const pool = newPool();
    const { subscription } = follow(pool.pollResult$('82'));
    expect(pool.drops('82').variables).to.be.greaterThan(0);
    expect(pool.drops('82').objects).to.equal(0);
    subscription.unsubscribe();
  });

  it('polls an idle segment when its futex changes, without a timer', async function () {
    needs(this, canWaitOnFutexes(), 'the kernel has no futex_waitv');
    const publisher = publishers.withRoot('82', 'H.1.ads');
    const waiter = new FutexWaiter();
    const armed = IDLE_AFTER_MS + ACTIVE_POLL_MS;
    const scheduler = new VirtualTimeScheduler(undefined, armed + IDLE_POLL_MS / 2);
    const pool = new PollerPool({
      makePoller: segmentPollers(posixMemory(waiter), {
        contextId: publishers.contextId,
        poolName: 'pool',
      }),
      scheduler,
    });
    const { seen, subscription } = follow(notifications(pool.pollResult$('82')));
    try {
      scheduler.flush(); // From here on the pool is idle: no timer fires.
      publisher.notify();
      await eventually('the futex wakes the pool', () => seen.length > 1);
      expect(seen).to.deep.equal(['0', '1']);
    } finally {
      subscription.unsubscribe();
      waiter.close();
    }
  });
});
