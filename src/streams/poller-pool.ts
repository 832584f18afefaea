// Polls server keys. All targets of a thread share the poller of a key.
import { Observable, Subject, Subscription, asyncScheduler, filter, map } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { messageOf } from '../errors.js';
import type { Scheduler } from './scheduler.js';
import { NOT_POLLED, resultWithoutSource } from './poller.js';
import type { LastValues, PollResult, Poller, PollerFactory } from './poller.js';

/** The poll period of a segment that changes, and the time without a change after which a segment is idle. */
export const ACTIVE_POLL_MS = 100;
export const IDLE_AFTER_MS = 1000;
/** The poll period of a segment that is idle or absent. */
export const IDLE_POLL_MS = 1000;

/** Decides when a segment is polled next. */
export class PollSchedule {
  readonly #now: () => number;
  #lastPolled: PollResult;
  #changedAt: number;

  /**
   * @param first the result of the first poll
   * @param now milliseconds of a monotonic clock; segments that share a clock are polled together
   */
  constructor(first: PollResult, now: () => number) {
    this.#now = now;
    this.#lastPolled = first;
    this.#changedAt = now();
  }

  get lastPolled(): PollResult {
    return this.#lastPolled;
  }

  /** Whether to wait for the segment's futex instead of polling. */
  get isIdle(): boolean {
    return this.#lastPolled.source !== undefined && this.#now() - this.#changedAt >= IDLE_AFTER_MS;
  }

  add(pollResult: PollResult): void {
    const { hasMore } = pollResult;
    // The end of a long read is no change of the segment.
    if (!isSamePollResult({ ...this.#lastPolled, hasMore }, pollResult))
      this.#changedAt = this.#now();
    this.#lastPolled = pollResult;
  }

  /** Returns the milliseconds until the next poll. @param needsEachChange false if changes can wait */
  waitMs(needsEachChange: boolean): number {
    const now = this.#now();
    if (this.#lastPolled.isUnstable === true) return untilNext(ACTIVE_POLL_MS, now);
    if (this.#lastPolled.hasMore || this.#lastPolled.isReclaiming === true) return 0;
    const isActive = needsEachChange && now - this.#changedAt < IDLE_AFTER_MS;
    return untilNext(isActive ? ACTIVE_POLL_MS : IDLE_POLL_MS, now);
  }
}

/**
 * Milliseconds until the next multiple of a period, or until the following multiple if the next is too soon. Timers
 * with the same period and clock fire together, so that the process wakes up once for all of them.
 */
export function untilNext(period: number, now: number): number {
  const wait = Math.ceil(period - (now % period));
  return wait < period / 4 ? wait + period : wait;
}

/** Whether two poll results are equal for every consumer. */
export const isSamePollResult = (a: PollResult, b: PollResult): boolean =>
  a.notifications === b.notifications && isSameStructure(a, b);

/** Whether two poll results differ at most in `notifications`: the structure is equal, but values may have changed. */
export function isSameStructure(a: PollResult, b: PollResult): boolean {
  return (
    a.source === b.source &&
    a.publisher.state === b.publisher.state &&
    // The reason of a stalled publisher contains an age, which grows with every poll.
    (a.publisher.reason === b.publisher.reason || a.publisher.state === 'stalled') &&
    (a.warnings ?? []).join() === (b.warnings ?? []).join() &&
    b.changes.length === 0 &&
    a.hasMore === b.hasMore &&
    (a.isUnstable === true) === (b.isUnstable === true) &&
    a.drops.objects === b.drops.objects &&
    a.drops.variables === b.drops.variables
  );
}

interface PoolParts {
  readonly makePoller: PollerFactory;
  /** Runs each poll that follows without a wait. */
  readonly tasks: Scheduler;
  readonly scheduler?: SchedulerLike | undefined;
  /** Reads a monotonic clock in milliseconds. Defaults to the clock of `scheduler`. */
  readonly nowMs?: (() => number) | undefined;
}

/** A server key that a target has opened. */
export class PolledKey {
  readonly #loop: PollLoop;
  /** Emits each new result, except those that `poll()` of this object returns. */
  readonly result$: Observable<PollResult>;
  #needsEachChange = false;

  constructor(loop: PollLoop) {
    this.#loop = loop;
    this.result$ = loop.emission$.pipe(
      filter(({ caller }) => caller !== this),
      map(({ result }) => result),
    );
  }

  /** The last new result: it differed from the result before it. */
  get lastNew(): PollResult {
    return this.#loop.lastNew;
  }

  /**
   * Whether the target needs each change at once. While no target needs that, the segment is polled as if it were
   * idle, and a result in which only `notifications` changed is not new.
   */
  get needsEachChange(): boolean {
    return this.#needsEachChange;
  }
  set needsEachChange(needsEachChange: boolean) {
    const isNew = needsEachChange && !this.#needsEachChange;
    this.#needsEachChange = needsEachChange;
    if (isNew) this.#loop.plan();
  }

  /**
   * Polls now, and returns the last new result. The other targets get a new result before this method returns. Does
   * not poll while a result is emitted: a second one would overtake it.
   */
  poll(): PollResult {
    this.#loop.poll(this);
    return this.lastNew;
  }
}

/** A new result. `caller` is the key whose `poll()` made it; undefined if the schedule made it. */
interface Emission {
  readonly result: PollResult;
  readonly caller: PolledKey | undefined;
}

/** Polls a server key at once, and again whenever its schedule or a target requests it. */
class PollLoop {
  readonly keys = new Set<PolledKey>();
  readonly #emission$ = new Subject<Emission>();
  readonly emission$ = this.#emission$.asObservable();
  readonly #poller: Poller;
  readonly #schedule: PollSchedule;
  readonly #tasks: Scheduler;
  readonly #scheduler: SchedulerLike;
  #lastNew: PollResult;
  #isEmitting = false;
  /** The timer or task of the next poll, and the wait for a notification. */
  #next = Subscription.EMPTY;

  constructor(poller: Poller, nowMs: () => number, tasks: Scheduler, scheduler: SchedulerLike) {
    this.#poller = poller;
    this.#lastNew = poller.poll();
    this.#schedule = new PollSchedule(this.#lastNew, nowMs);
    this.#tasks = tasks;
    this.#scheduler = scheduler;
  }

  get lastNew(): PollResult {
    return this.#lastNew;
  }
  get lastPolled(): PollResult {
    return this.#schedule.lastPolled;
  }
  get #needsEachChange(): boolean {
    return [...this.keys].some(({ needsEachChange }) => needsEachChange);
  }

  /** Polls. If the result is new, emits it to all targets except the caller. */
  poll(caller?: PolledKey): void {
    if (this.#isEmitting) return;
    this.#next.unsubscribe();
    try {
      const result = this.#poller.poll(caller !== undefined);
      this.#schedule.add(result);
      const isSame = this.#needsEachChange ? isSamePollResult : isSameStructure;
      if (!isSame(this.#lastNew, result)) {
        this.#lastNew = result;
        this.#isEmitting = true;
        this.#emission$.next({ result, caller });
        this.#isEmitting = false;
      }
      this.plan();
    } catch (error) {
      this.#emission$.error(new Error(messageOf(error), { cause: error }));
    }
  }

  /** Sets the time of the next poll. If changes are urgent and the segment is idle, a notification polls as well. */
  plan(): void {
    this.#next.unsubscribe();
    if (this.keys.size === 0) return;
    const needsEachChange = this.#needsEachChange;
    const waitMs = this.#schedule.waitMs(needsEachChange);
    const poll = (): true => {
      if (!next.closed) this.poll();
      return true;
    };
    const next = (this.#next = new Subscription());
    next.add(waitMs > 0 ? this.#scheduler.schedule(poll, waitMs) : this.#tasks.start(poll));
    if (!needsEachChange || !this.#schedule.isIdle) return;
    // Wait for the futex after a delay, so that frequent notifications cost no more than polls.
    const wait = (): void => next.add(this.#poller.wait(this.lastPolled.notifications, poll));
    next.add(this.#scheduler.schedule(wait, ACTIVE_POLL_MS));
  }

  openLast(): LastValues | undefined {
    return this.#poller.openLast?.();
  }

  end(): void {
    this.#next.unsubscribe();
    this.#poller.close();
  }
}

/** The pool polls keys in groups of this size. Each group follows `GROUP_OFFSET_MS` after the one before. */
const KEYS_PER_GROUP = 32;
const GROUP_OFFSET_MS = 7;

export class PollerPool {
  readonly #parts: PoolParts;
  readonly #loops = new Map<string, PollLoop>();

  constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  /** Whether no key is polled. */
  get isIdle(): boolean {
    return this.#loops.size === 0;
  }

  /** Opens a server key for a target, and emits it once. Unsubscribing closes it. */
  open(serverKey: string): Observable<PolledKey> {
    return new Observable((subscriber) => {
      const loop = this.#loops.get(serverKey) ?? this.#start(serverKey);
      const key = new PolledKey(loop);
      loop.keys.add(key);
      loop.plan();
      subscriber.next(key);
      return () => {
        loop.keys.delete(key);
        if (loop.keys.size > 0) return;
        this.#loops.delete(serverKey);
        loop.end();
      };
    });
  }

  /** The result of the last poll of a server key. */
  lastPolled(serverKey: string): PollResult {
    return this.#loops.get(serverKey)?.lastPolled ?? resultWithoutSource(serverKey, NOT_POLLED);
  }

  /** Opens the last values of a publisher that died, or that hangs and is not served; undefined if there are none. */
  openLast(serverKey: string): LastValues | undefined {
    const loop = this.#loops.get(serverKey);
    // Poll first: another publisher may have taken the server key since the last poll.
    loop?.poll();
    const { source, publisher } = this.lastPolled(serverKey);
    const isLeft = publisher.state === 'dead' || publisher.state === 'stalled';
    return source === undefined && isLeft ? loop?.openLast() : undefined;
  }

  #start(serverKey: string): PollLoop {
    const { makePoller, tasks, scheduler = asyncScheduler } = this.#parts;
    const { nowMs = () => scheduler.now() } = this.#parts;
    const offset = Math.floor(this.#loops.size / KEYS_PER_GROUP) * GROUP_OFFSET_MS;
    const loop = new PollLoop(makePoller(serverKey), () => nowMs() + offset, tasks, scheduler);
    this.#loops.set(serverKey, loop);
    return loop;
  }
}

/** The checked `format_settings` of a target. Plain data, since threads receive it. */
export type FormatSettings = Readonly<Record<string, unknown>>;

/** Maps each format name to a function that makes the poller factory for given format settings. */
export type FormatPollerFactories = ReadonlyMap<
  string,
  (settings: FormatSettings) => PollerFactory
>;

/** Returns the pool of a format with these settings. Targets with equal settings share it. */
export type PollerPools = (format: string, settings?: FormatSettings) => PollerPool;

/** Makes the pools of one thread. @throws Error for a format that was not checked before */
export function pollerPools(
  formats: FormatPollerFactories,
  parts: Omit<PoolParts, 'makePoller'>,
): PollerPools {
  const pools = new Map<string, PollerPool>();
  return (format, settings = {}) => {
    const pollers = formats.get(format);
    if (pollers === undefined) throw new Error(`There is no format ${format}`);
    const key = JSON.stringify([format, settings]);
    const known = pools.get(key);
    if (known !== undefined) return known;
    // Drop the pools of settings that a reload has removed.
    for (const [each, pool] of pools) if (pool.isIdle) pools.delete(each);
    const pool = new PollerPool({ ...parts, makePoller: pollers(settings) });
    pools.set(key, pool);
    return pool;
  };
}
