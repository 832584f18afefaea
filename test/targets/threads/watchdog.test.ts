// Tests watchdog(), which ends a thread that hangs, so that its targets can restart.
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { asyncScheduler, catchError, map, of } from 'rxjs';
import { messageOf } from '#app/errors.js';
import { posixMemory } from '#app/native/os/posix.js';
import {
  MAX_SILENCE_MS,
  ThreadedPartition,
  watchdog,
} from '#app/targets/threads/threaded-partition.js';
import { definitionOf } from '../../support/definition-of.js';
import { eventually } from '../../support/eventually.js';
import { follow } from '../../support/follow.js';
import { marbles } from '../../support/marbles.js';
import { VirtualClock } from '../../support/virtual-clock.js';

describe('the watchdog', () => {
  const ends: number[] = [];
  const watched = () => watchdog<string>(() => ends.push(asyncScheduler.now()), asyncScheduler);
  beforeEach(() => {
    ends.length = 0;
  });

  it('forwards reports, and ends no thread that reports', () => {
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const report$ = hot(' a 20s b 20s c 20s d|');
      const subscribed = '  ^ 60s ---!';
      expectObservable(report$.pipe(watched())).toBe('a 20s b 20s c 20s d|');
      expectSubscriptions(report$.subscriptions).toBe(subscribed);
    })();
    expect(ends).to.deep.equal([]);
  });

  it('ends a silent thread once, and still forwards its reports', () => {
    marbles(({ hot, expectObservable }) => {
      const report$ = hot('a 59s b');
      expectObservable(report$.pipe(watched()), '62s !').toBe('a 59s b');
    })();
    expect(ends).to.deep.equal([MAX_SILENCE_MS + 1000]);
  });

  it('ends a thread that never reported', () => {
    marbles(({ hot, expectObservable }) => {
      expectObservable(hot('-').pipe(watched()), '40s !').toBe('');
    })();
    expect(ends).to.have.length(1);
  });

  it('ends a real thread in an endless loop, and fails its targets with the reason', async () => {
    const clock = new VirtualClock();
    const spinning = () => new Worker('for (;;);', { eval: true });
    const setup = { number: 3, contextId: 'none', poolName: 'pool' };
    const partition = new ThreadedPartition(setup, posixMemory(), spinning, clock);
    const { report$ } = partition.host(definitionOf());
    const failure$ = report$.pipe(
      map(() => 'a report'),
      catchError((error: unknown) => of(messageOf(error))),
    );
    const { seen, subscription } = follow(failure$);
    clock.advance(MAX_SILENCE_MS + 1000);
    await eventually('the thread is ended', () => seen.length > 0);
    expect(seen).to.deep.equal(['its thread was silent for 30 seconds']);
    subscription.unsubscribe();
    partition.close();
  });

  it('stops when its source completes or fails, and when its subscriber unsubscribes', () => {
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('a-|').pipe(watched())).toBe('a-|');
      expectObservable(cold('a-#').pipe(watched())).toBe('a-#');
      expectObservable(cold('a--').pipe(watched()), '-!').toBe('a');
    })();
    expect(ends).to.deep.equal([]);
  });
});
