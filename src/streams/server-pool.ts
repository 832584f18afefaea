// The watches of server keys that all targets of a thread share, by format.
import {
  Observable,
  ReplaySubject,
  Subscription,
  asyncScheduler,
  concatMap,
  defer,
  distinctUntilChanged,
  finalize,
  share,
} from 'rxjs';
import type { SchedulerLike, TeardownLogic } from 'rxjs';
import type { Verdict } from '../model.js';
import { MOVING_MS, Movement, isSamePollResult, isSameStructure, keepLooking } from './poll.js';
import type { Scheduler } from './scheduler.js';
import { NO_DROPS } from './watch.js';
import type { PollResult, Watch, Watches } from './watch.js';

interface PoolParts {
  readonly watch: Watches;
  /** Of the thread; timers by default. */
  readonly tasks?: Scheduler | undefined;
  readonly scheduler?: SchedulerLike | undefined;
  /** Milliseconds of a clock that does not step; by default the scheduler's. */
  readonly nowMs?: (() => number) | undefined;
}

const NOT_LOOKED_FOR: Verdict = {
  state: 'absent',
  reason: 'its segment has not been looked for yet',
};

/** Keys that are looked at in the same moments; each further group has its moments that much later. */
const KEYS_A_GROUP = 32;
const GROUP_OFFSET_MS = 7;

/** A server key that is followed. */
interface Followed {
  readonly pollResult$: Observable<PollResult>;
  /** Looks now. */
  look: () => void;
  /** How many keys were followed when it began. */
  readonly ordinal: number;
  /** One for each follower. */
  readonly urgent: Set<() => boolean>;
  /** Whether a poll result is being emitted. */
  isEmitting: boolean;
  last: PollResult | undefined;
}

export class ServerPool {
  readonly #parts: PoolParts;
  readonly #scheduler: SchedulerLike;
  readonly #followed = new Map<string, Followed>();

  constructor(parts: PoolParts) {
    this.#parts = parts;
    this.#scheduler = parts.scheduler ?? asyncScheduler;
  }

  /** Whether no key is followed. */
  get isIdle(): boolean {
    return this.#followed.size === 0;
  }

  /**
   * What the segment of a server key shows, whenever that changes. Replays the last poll result.
   * @param isUrgent whether each change matters at once; while it does not to anybody, the segment is
   *   looked at as if it stood still, and a tick alone is not shown
   */
  pollResult$(serverKey: string, isUrgent = () => true): Observable<PollResult> {
    return defer(() => {
      const followed = this.#followed.get(serverKey) ?? this.#follow(serverKey);
      followed.urgent.add(isUrgent);
      return followed.pollResult$.pipe(finalize(() => followed.urgent.delete(isUrgent)));
    });
  }

  /**
   * Looks at a server key now; followers see what is new before this returns. During an emission of
   * that key it does nothing: nothing is newer, and a second poll result would overtake the first.
   */
  look(serverKey: string): void {
    const followed = this.#followed.get(serverKey);
    if (followed?.isEmitting === false) followed.look();
  }

  /** The newest verdict on the publisher of a server key. */
  publisher(serverKey: string): Verdict {
    return this.#followed.get(serverKey)?.last?.publisher ?? NOT_LOOKED_FOR;
  }

  /** The process that published a server key when it was looked at last. */
  process(serverKey: string): PollResult['process'] {
    return this.#followed.get(serverKey)?.last?.process;
  }

  /** What the publisher of a server key had no room for. */
  drops(serverKey: string): PollResult['drops'] {
    return this.#followed.get(serverKey)?.last?.drops ?? NO_DROPS;
  }

  #follow(serverKey: string): Followed {
    const followed: Followed = {
      look: () => undefined,
      ordinal: this.#followed.size,
      urgent: new Set(),
      isEmitting: false,
      last: undefined,
      pollResult$: defer(() => this.#watch(serverKey, followed)).pipe(
        share({
          connector: () => new ReplaySubject(1),
          resetOnRefCountZero: true,
        }),
      ),
    };
    this.#followed.set(serverKey, followed);
    return followed;
  }

  #watch(serverKey: string, followed: Followed): Observable<PollResult> {
    const watch = this.#parts.watch(serverKey);
    const nowMs = this.#parts.nowMs ?? (() => this.#scheduler.now());
    const offset = Math.floor(followed.ordinal / KEYS_A_GROUP) * GROUP_OFFSET_MS;
    const movement = new Movement(() => nowMs() + offset);
    const isUrgent = () => [...followed.urgent].some((each) => each());
    const isSame = (a: PollResult, b: PollResult): boolean =>
      isUrgent() ? isSamePollResult(a, b) : isSameStructure(a, b);
    const look = (): PollResult => (followed.last = watch.poll());
    const sooner = (seen: PollResult, again: () => void): TeardownLogic => {
      followed.look = again;
      return movement.isStill && isUrgent() ? this.#onWake(watch, seen, again) : undefined;
    };
    return keepLooking(
      look,
      (seen) => movement.next(seen, isUrgent()),
      sooner,
      this.#scheduler,
      this.#parts.tasks,
    ).pipe(
      distinctUntilChanged(isSame),
      concatMap((seen) => emitting(followed, seen)),
      finalize(() => {
        watch.close();
        this.#followed.delete(serverKey);
      }),
    );
  }

  /** Waits for the futex; armed with a delay, so that frequent wake-ups cost no more than polling. */
  #onWake(watch: Watch, { tick }: PollResult, wake: () => void): Subscription {
    const armed = new Subscription();
    const arm = () => {
      armed.add(watch.wait(tick, wake));
    };
    armed.add(this.#scheduler.schedule(arm, MOVING_MS));
    return armed;
  }
}

/** Emits a poll result, and marks the key for as long as that takes. */
const emitting = (followed: Followed, pollResult: PollResult): Observable<PollResult> =>
  new Observable((subscriber) => {
    followed.isEmitting = true;
    try {
      subscriber.next(pollResult);
    } finally {
      followed.isEmitting = false;
    }
    subscriber.complete();
  });

/** What a target says of its format. */
type Settings = Readonly<Record<string, unknown>>;

/** What watches server keys, by the name of the format. */
export type FormatWatches = ReadonlyMap<string, (settings: Settings) => Watches>;

/** The pool of a format with these settings: targets that have the same share it. */
export type ServerPools = (format: string, settings?: Settings) => ServerPool;

/** Makes the pools of one thread. @throws Error for a format that was not checked before */
export function serverPools(formats: FormatWatches, parts: Omit<PoolParts, 'watch'>): ServerPools {
  const pools = new Map<string, ServerPool>();
  return (format, settings = {}) => {
    const watches = formats.get(format);
    if (watches === undefined) throw new Error(`There is no format ${format}`);
    const key = JSON.stringify([format, settings]);
    const known = pools.get(key);
    if (known !== undefined) return known;
    // Settings that a reload took away leave nothing behind.
    for (const [each, pool] of pools) if (pool.isIdle) pools.delete(each);
    const pool = new ServerPool({ ...parts, watch: watches(settings) });
    pools.set(key, pool);
    return pool;
  };
}
