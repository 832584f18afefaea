// Tests the shared pool of pollers on real segments, in virtual time.
import { expect } from 'chai';
import {
  VirtualTimeScheduler,
  asyncScheduler,
  ignoreElements,
  map,
  merge,
  startWith,
  switchMap,
  tap,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { FutexWaiter } from '#app/native/os/futex-waiter.js';
import { canWaitOnFutexes } from '#app/native/os/libc.js';
import { posixMemory } from '#app/native/os/posix.js';
import { segmentPollers } from '#app/native/segment/segment-poller.js';
import {
  ACTIVE_POLL_MS,
  IDLE_AFTER_MS,
  IDLE_POLL_MS,
  PollerPool,
} from '#app/streams/poller-pool.js';
import type { PolledKey } from '#app/streams/poller-pool.js';
import type { PollResult, Poller } from '#app/streams/poller.js';
import { CountingMemory } from '../support/counting-memory.js';
import { eventually } from '../support/eventually.js';
import { follow } from '../support/follow.js';
import { firstTwo, marbles } from '../support/marbles.js';
import { needs } from '../support/needs.js';
import { pollResult } from '../support/poll-results.js';
import { Publishers } from '../support/publishers.js';
import { schedulerOf } from '../support/scheduler-of.js';
import { VirtualClock } from '../support/virtual-clock.js';

/** The results that a target gets from a server key: the last one, then each new one that it did not request. */
const results = (
  pool: PollerPool,
  serverKey: string,
  needsEachChange = true,
): Observable<PollResult> =>
  pool.open(serverKey).pipe(
    switchMap((key) => {
      key.needsEachChange = needsEachChange;
      return key.result$.pipe(startWith(key.lastNew));
    }),
  );

/** Opens a server key. */
const opened = (pool: PollerPool, serverKey = '82') => {
  const { seen, subscription } = follow(pool.open(serverKey));
  const [key] = seen;
  if (key === undefined) throw new Error('no key');
  return { key, subscription };
};

describe('a pool of pollers', () => {
  const publishers = new Publishers();
  let memory = new CountingMemory();
  beforeEach(() => {
    memory = new CountingMemory();
  });
  afterEach(() => publishers.closeAll());

  const newPool = (scheduler: SchedulerLike = asyncScheduler) =>
    new PollerPool({
      makePoller: segmentPollers(memory, { contextId: publishers.contextId, poolName: 'pool' }),
      scheduler,
      tasks: schedulerOf(scheduler),
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

      const polls$ = results(newPool(), '82');
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

      const polls$ = results(newPool(), '82');
      expectObservable(merge(notifications(polls$), doing(step$)), leaves).toBe(pollResults);
    }),
  );

  it('returns the result of a poll on request, and emits it to the other targets before', () => {
    const publisher = publishers.withRoot('82', 'H.1.ads');
    const pool = newPool(new VirtualClock());
    const { key, subscription } = opened(pool);
    const own = follow(notifications(key.result$));
    const other = follow(notifications(results(pool, '82')));
    publisher.notify();
    expect(key.poll().notifications).to.equal(1);
    expect([own.seen, other.seen]).to.deep.equal([[], ['0', '1']]);
    const { lastNew } = key;
    expect(key.poll(), 'without a change').to.equal(lastNew);
    for (const each of [own, other, { subscription }]) each.subscription.unsubscribe();
  });

  it(
    'emits the last poll result to a late subscriber, without a further poll',
    marbles(({ expectObservable }) => {
      publishers.withRoot('82', 'H.1.ads');
      const polls$ = results(newPool(), '82');
      expectObservable(states(polls$), '50ms !').toBe('l', state);
      expectObservable(states(polls$), '20ms ^ 29ms !').toBe('20ms l', state);
      expectObservable(polls$.pipe(map(() => memory.asked)), '30ms ^!').toBe('30ms 1', { 1: 1 });
    }),
  );

  it(
    'emits a notification only if it is urgent for a target, but the end of a publisher always',
    marbles(({ hot, expectObservable }) => {
      const publisher = publishers.withRoot('82', 'H.1.ads');
      let opens: PolledKey | undefined;
      const step$ = hot('   150ms t 2249ms u 299ms t 349ms c', {
        t: () => {
          publisher.notify();
        },
        u: () => {
          if (opens !== undefined) opens.needsEachChange = true;
        },
        c: () => {
          publisher.close();
        },
      });
      const leaves = '      3150ms !';
      const polls$ = newPool()
        .open('82')
        .pipe(
          switchMap((key) => {
            opens = key;
            return key.result$.pipe(startWith(key.lastNew));
          }),
        );
      const seen$ = polls$.pipe(
        map(({ notifications, publisher: { state } }) => `${notifications} ${state}`),
      );
      const seen = { a: '0 live', c: '2 live', d: '0 closed' };
      expectObservable(merge(seen$, doing(step$)), leaves).toBe('a 2999ms c 99ms d', seen);
    }),
  );

  it('polls often within a second after a change, once a target needs each change', () => {
    const publisher = publishers.withRoot('82', 'H.1.ads');
    const clock = new VirtualClock();
    const { key, subscription } = opened(newPool(clock));
    const { seen } = follow(notifications(key.result$));
    publisher.notify();
    clock.advance(ACTIVE_POLL_MS * 3 + 10);
    expect(seen).to.deep.equal([]);
    key.needsEachChange = true;
    clock.advance(ACTIVE_POLL_MS - 10);
    expect(seen).to.deep.equal(['1']);
    subscription.unsubscribe();
  });

  it('closes a segment when its last subscriber leaves, and opens the segment again for the next subscriber', () => {
    publishers.withRoot('82', 'H.1.ads');
    const polls$ = results(newPool(), '82');
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
      const { seen, subscription } = follow(results(pool, key));
      const { state } = pool.lastPolled(key).publisher;
      subscription.unsubscribe();
      const names = [...(seen[0]?.source?.roots ?? [])].map(({ name }) => name);
      return [...names, state].join(' ');
    });
    expect(roots).to.deep.equal(['H.1.ads live', 'H.2.ads live', 'absent']);
  });

  it('emits results to all targets in the same order, even if a target polls during an emission', () => {
    const publisher = publishers.withRoot('82', 'H.1.ads');
    const pool = newPool(new VirtualClock());
    const { key, subscription } = opened(pool);
    const first = follow(
      pool.open('82').pipe(
        switchMap((key) => {
          key.needsEachChange = true;
          return key.result$.pipe(
            map(({ notifications }) => {
              publisher.notify();
              return [notifications, key.poll().notifications].join();
            }),
          );
        }),
      ),
    );
    const second = follow(notifications(results(pool, '82')));
    publisher.notify();
    for (let polls = 0; polls < 2; polls++) key.poll();
    expect(first.seen, 'the poll returns the result that is emitted').to.deep.equal(['1,1', '2,2']);
    expect(second.seen).to.deep.equal(['0', '1', '2']);
    for (const each of [first, second, { subscription }]) each.subscription.unsubscribe();
  });

  it('stops when the consumer unsubscribes during the second emission', () => {
    const publisher = publishers.withRoot('82', 'H.1.ads');
    const scheduler = new VirtualClock();
    const pool = newPool(scheduler);
    const poller = opened(pool);
    const stays = follow(notifications(results(pool, '82', false)));
    const leaves = follow(firstTwo(notifications(results(pool, '82'))));
    publisher.notify();
    poller.key.poll();
    expect([leaves.seen, leaves.subscription.closed]).to.deep.equal([['0', '1'], true]);
    publisher.notify();
    scheduler.advance(IDLE_POLL_MS);
    expect(stays.seen, 'no other target is urgent').to.deep.equal(['0', '1']);
    for (const { subscription } of [stays, poller]) subscription.unsubscribe();
    // The last target closes the key during an emission.
    const last = follow(firstTwo(notifications(results(pool, '82'))));
    publisher.notify();
    scheduler.advance(ACTIVE_POLL_MS);
    expect([last.seen, memory.isOpen, pool.isIdle]).to.deep.equal([['2', '3'], 0, true]);
    const { asked } = memory;
    scheduler.advance(10 * IDLE_POLL_MS);
    expect(memory.asked).to.equal(asked);
  });

  it('forwards an error of a poller to all targets, and closes the poller', () => {
    const scheduler = new VirtualClock();
    let closed = 0;
    const poller: Poller = {
      poll: () => {
        if (scheduler.now() > 0) throw new Error('blind');
        return pollResult();
      },
      wait: () => () => undefined,
      close: () => closed++,
    };
    const tasks = schedulerOf(scheduler);
    const pool = new PollerPool({ makePoller: () => poller, scheduler, tasks });
    const errors: string[] = [];
    for (let target = 0; target < 2; target++)
      results(pool, '82').subscribe({ error: (error: unknown) => errors.push(String(error)) });
    scheduler.advance(IDLE_POLL_MS);
    expect(errors).to.deep.equal(['Error: blind', 'Error: blind']);
    expect([closed, pool.isIdle]).to.deep.equal([1, true]);
  });

  it('polls in a task, without a timer, while the poller has more to read', () => {
    const scheduler = new VirtualClock();
    let polls = 0;
    const poller: Poller = {
      poll: () => pollResult({ hasMore: ++polls < 5 }),
      wait: () => () => undefined,
      close: () => undefined,
    };
    const tasks = schedulerOf(scheduler);
    const pool = new PollerPool({ makePoller: () => poller, scheduler, tasks });
    const { subscription } = follow(results(pool, '82'));
    expect(polls).to.equal(1);
    scheduler.advance(0);
    expect(polls).to.equal(5);
    subscription.unsubscribe();
  });

  it('has no result of a server key that no target has opened', () => {
    const { publisher, drops } = newPool().lastPolled('82');
    expect(memory.asked).to.equal(0);
    const reason = 'its segment has not been polled yet';
    expect(publisher).to.deep.equal({ state: 'absent', reason });
    expect(drops).to.deep.equal({ objects: 0, variables: 0 });
  });

  it('reports the items that a publisher dropped', () => {
    const publisher = publishers.make('82', { capacity: { slots: 4 } });
    const root = publisher.addRoot('H.1.ads', 'Root');
    for (let i = 0; i < 7; i++) publisher.addVariable(root, `v${i}`, 'u64');
    publisher.place();
    const pool = newPool();
    const { subscription } = follow(results(pool, '82'));
    expect(pool.lastPolled('82').drops.variables).to.be.greaterThan(0);
    expect(pool.lastPolled('82').drops.objects).to.equal(0);
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
      tasks: schedulerOf(scheduler),
    });
    const { seen, subscription } = follow(notifications(results(pool, '82')));
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
