// The shared-memory server pool: a stream of sightings for each server key, shared by its targets.
import {
  Observable,
  ReplaySubject,
  Subject,
  asyncScheduler,
  distinctUntilChanged,
  finalize,
  merge,
  share,
  switchMap,
  timer,
} from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import type { Verdict } from '../model.js';
import type { FutexWaiter } from '../native/futex-waiter.js';
import { segmentName } from '../native/layout.js';
import { SegmentWatch } from '../native/segment-watch.js';
import type { Sighting } from '../native/segment-watch.js';
import type { SharedMemory } from '../native/shared-memory.js';
import { keepLooking } from './keep-looking.js';
import { MOVING_MS, Movement, isSameSighting } from './movement.js';

export interface PoolParts {
  readonly memory: SharedMemory;
  readonly contextId: string;
  readonly poolName: string;
  /** Wakes the pool when a segment that stood still moves; without one it polls only. */
  readonly waiter?: FutexWaiter | undefined;
  readonly scheduler?: SchedulerLike | undefined;
  /** Milliseconds of a clock that does not step; by default the scheduler's. */
  readonly nowMs?: (() => number) | undefined;
}

const NOT_LOOKED_FOR: Verdict = { state: 'absent', reason: 'not looked for yet' };
const NO_DROPS: Sighting['drops'] = { objects: 0, variables: 0 };

export class ServerPool {
  readonly #parts: PoolParts;
  readonly #scheduler: SchedulerLike;
  readonly #segments = new Map<string, Observable<Sighting>>();
  readonly #asked = new Map<string, Subject<void>>();
  readonly #seen = new Map<string, Sighting>();

  constructor(parts: PoolParts) {
    this.#parts = parts;
    this.#scheduler = parts.scheduler ?? asyncScheduler;
  }

  /** What the segment of a server key shows, whenever that changes. Replays the last sighting. */
  segment$(serverKey: string): Observable<Sighting> {
    const known = this.#segments.get(serverKey);
    if (known !== undefined) return known;
    const ask$ = new Subject<void>();
    const made = this.#watch(serverKey, ask$).pipe(
      share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: true }),
    );
    this.#asked.set(serverKey, ask$);
    this.#segments.set(serverKey, made);
    return made;
  }

  /** Looks at a server key now: whoever follows it sees what is new before this returns. */
  look(serverKey: string): void {
    this.#asked.get(serverKey)?.next();
  }

  /** The newest verdict on the publisher of a server key. */
  publisher(serverKey: string): Verdict {
    return this.#seen.get(serverKey)?.publisher ?? NOT_LOOKED_FOR;
  }

  /** What the publisher of a server key had no room for. */
  drops(serverKey: string): Sighting['drops'] {
    return this.#seen.get(serverKey)?.drops ?? NO_DROPS;
  }

  #watch(serverKey: string, ask$: Observable<void>): Observable<Sighting> {
    const { memory, contextId, poolName } = this.#parts;
    const watch = new SegmentWatch(memory, segmentName(contextId, poolName, serverKey), serverKey);
    const movement = new Movement(this.#parts.nowMs ?? (() => this.#scheduler.now()));
    const sooner = (seen: Sighting) =>
      movement.isStill ? merge(ask$, this.#woken(watch, seen)) : ask$;
    const look = (): Sighting => {
      const seen = watch.look();
      this.#seen.set(serverKey, seen);
      return seen;
    };
    return keepLooking(look, (seen) => movement.next(seen), sooner, this.#scheduler).pipe(
      distinctUntilChanged<Sighting>(isSameSighting),
      finalize(() => {
        watch.close();
      }),
    );
  }

  /** Waits for the segment's futex; armed late, so that a waking storm is no faster than polling. */
  #woken(watch: SegmentWatch, { tick }: Sighting): Observable<void> {
    const moved$ = new Observable<void>((subscriber) => {
      const word = watch.word();
      if (word === undefined) return undefined;
      return this.#parts.waiter?.wait(word, tick, () => {
        subscriber.next();
      });
    });
    return timer(MOVING_MS, this.#scheduler).pipe(switchMap(() => moved$));
  }
}
