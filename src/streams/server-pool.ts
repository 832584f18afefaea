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
import { keepLooking } from './keep-looking.js';
import { MOVING_MS, Movement, isSameSighting } from './movement.js';
import type { Sighting, Watch } from './watch.js';

export interface PoolParts {
  /** Starts to watch a server key; called once for each key that is followed. */
  readonly watch: (serverKey: string) => Watch;
  readonly scheduler?: SchedulerLike | undefined;
  /** Milliseconds of a clock that does not step; by default the scheduler's. */
  readonly nowMs?: (() => number) | undefined;
}

const NOT_LOOKED_FOR: Verdict = {
  state: 'absent',
  reason: 'its segment has not been looked for yet',
};
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
    const watch = this.#parts.watch(serverKey);
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
        for (const map of [this.#segments, this.#asked, this.#seen]) map.delete(serverKey);
      }),
    );
  }

  /** Waits for the segment's futex; armed late, so that a waking storm is no faster than polling. */
  #woken(watch: Watch, { tick }: Sighting): Observable<void> {
    const moved$ = new Observable<void>((subscriber) =>
      watch.wait(tick, () => {
        subscriber.next();
      }),
    );
    return timer(MOVING_MS, this.#scheduler).pipe(switchMap(() => moved$));
  }
}
