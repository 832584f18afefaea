// The pollers of server keys. All targets of a thread share them.
import {
  Observable,
  ReplaySubject,
  Subscription,
  asyncScheduler,
  defer,
  distinctUntilChanged,
  finalize,
  share,
} from 'rxjs';
import type { SchedulerLike, TeardownLogic } from 'rxjs';
import type { Verdict } from '../model.js';
import {
  ACTIVE_POLL_MS,
  PollSchedule,
  isSamePollResult,
  isSameStructure,
  repeatPoll,
} from './poll.js';
import type { Scheduler } from './scheduler.js';
import { NOT_POLLED, NO_DROPS } from './poller.js';
import type { PollResult, Poller, PollerFactory } from './poller.js';

interface PoolParts {
  readonly makePoller: PollerFactory;
  /** Runs each poll that follows without a wait. If undefined, timers run these polls. */
  readonly tasks?: Scheduler | undefined;
  readonly scheduler?: SchedulerLike | undefined;
  /** Reads a monotonic clock in milliseconds. Defaults to the clock of `scheduler`. */
  readonly nowMs?: (() => number) | undefined;
}

/** The pool polls keys in groups of this size. Each group follows `GROUP_OFFSET_MS` after the one before. */
const KEYS_PER_GROUP = 32;
const GROUP_OFFSET_MS = 7;

/** A server key that targets have subscribed to. */
interface PolledKey {
  readonly pollResult$: Observable<PollResult>;
  /** Polls now, unless a poll result is being emitted. */
  poll: () => void;
  /** The number of polled keys before this one. */
  readonly ordinal: number;
  /** One function for each subscriber: returns whether the subscriber needs each change at once. */
  readonly urgent: Set<() => boolean>;
  last: PollResult | undefined;
}

export class PollerPool {
  readonly #parts: PoolParts;
  readonly #scheduler: SchedulerLike;
  readonly #polled = new Map<string, PolledKey>();

  constructor(parts: PoolParts) {
    this.#parts = parts;
    this.#scheduler = parts.scheduler ?? asyncScheduler;
  }

  /** Whether no key is polled. */
  get isIdle(): boolean {
    return this.#polled.size === 0;
  }

  /**
   * Polls a server key, and emits each result that differs from the last. Replays the last poll result.
   * @param isUrgent whether the subscriber needs each change at once. While no subscriber needs that, the pool polls
   *   the segment as if it were idle, and emits no result in which only `notifications` changed
   */
  pollResult$(serverKey: string, isUrgent = () => true): Observable<PollResult> {
    return defer(() => {
      const key = this.#polled.get(serverKey) ?? this.#start(serverKey);
      key.urgent.add(isUrgent);
      return key.pollResult$.pipe(finalize(() => key.urgent.delete(isUrgent)));
    });
  }

  /**
   * Polls a server key now. Its subscribers get the new result before this method returns. Does nothing during an
   * emission of that key: a second poll result would overtake the first.
   */
  poll(serverKey: string): void {
    this.#polled.get(serverKey)?.poll();
  }

  /** The newest verdict on the publisher of a server key. */
  publisher(serverKey: string): Verdict {
    return this.#polled.get(serverKey)?.last?.publisher ?? NOT_POLLED;
  }

  /** The publisher's process at the last poll. */
  process(serverKey: string): PollResult['process'] {
    return this.#polled.get(serverKey)?.last?.process;
  }

  /** The number of notifications at the last poll; undefined before the first. */
  notifications(serverKey: string): number | undefined {
    return this.#polled.get(serverKey)?.last?.notifications;
  }

  /** The numbers of objects and variables that exceeded the capacity of the segment. */
  drops(serverKey: string): PollResult['drops'] {
    return this.#polled.get(serverKey)?.last?.drops ?? NO_DROPS;
  }

  #start(serverKey: string): PolledKey {
    const key: PolledKey = {
      poll: () => undefined,
      ordinal: this.#polled.size,
      urgent: new Set(),
      last: undefined,
      pollResult$: defer(() => this.#pollResults(serverKey, key)).pipe(
        share({
          connector: () => new ReplaySubject(1),
          resetOnRefCountZero: true,
        }),
      ),
    };
    this.#polled.set(serverKey, key);
    return key;
  }

  #pollResults(serverKey: string, key: PolledKey): Observable<PollResult> {
    const poller = this.#parts.makePoller(serverKey);
    const nowMs = this.#parts.nowMs ?? (() => this.#scheduler.now());
    const offset = Math.floor(key.ordinal / KEYS_PER_GROUP) * GROUP_OFFSET_MS;
    const schedule = new PollSchedule(() => nowMs() + offset);
    const isUrgent = () => [...key.urgent].some((each) => each());
    const isSame = (a: PollResult, b: PollResult): boolean =>
      isUrgent() ? isSamePollResult(a, b) : isSameStructure(a, b);
    const poll = (): PollResult => (key.last = poller.poll());
    const waitForChange = (result: PollResult, again: () => void): TeardownLogic => {
      key.poll = again;
      return schedule.isIdle && isUrgent() ? this.#waitForWakeUp(poller, result, again) : undefined;
    };
    return repeatPoll(
      poll,
      (result) => schedule.next(result, isUrgent()),
      waitForChange,
      this.#scheduler,
      this.#parts.tasks,
    ).pipe(
      distinctUntilChanged(isSame),
      finalize(() => {
        poller.close();
        this.#polled.delete(serverKey);
      }),
    );
  }

  /** Waits for the futex after a delay, so that frequent wake-ups cost no more than polls. */
  #waitForWakeUp(poller: Poller, { notifications }: PollResult, wake: () => void): Subscription {
    const armed = new Subscription();
    const arm = () => {
      armed.add(poller.wait(notifications, wake));
    };
    armed.add(this.#scheduler.schedule(arm, ACTIVE_POLL_MS));
    return armed;
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
