// Tells a segment that moves from one that stands still, and when to look at it again.
import type { Sighting } from './watch.js';

/** While a segment moves it is polled this often, and this much later it counts as standing still. */
export const MOVING_MS = 100;
export const STILL_AFTER_MS = 1000;
/** How often a segment that stands still, or is not there, is looked at without being woken. */
export const STILL_MS = 1000;

export class Movement {
  readonly #now: () => number;
  #last: Sighting | undefined;
  #movedAt = -Infinity;

  /** @param now milliseconds of a clock that does not step */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether it is worth to wait for the segment's futex instead of polling it. */
  get isStill(): boolean {
    return this.#last?.source !== undefined && this.#now() - this.#movedAt >= STILL_AFTER_MS;
  }

  /** Takes note of a sighting; returns the milliseconds until the next look. */
  next(seen: Sighting): number {
    const now = this.#now();
    if (this.#last === undefined || !isSameSighting(this.#last, seen)) this.#movedAt = now;
    this.#last = seen;
    if (seen.isRestless === true) return MOVING_MS;
    if (seen.hasMore) return 0;
    return now - this.#movedAt < STILL_AFTER_MS ? MOVING_MS : STILL_MS;
  }
}

/** Whether nobody would act differently on one than on the other. */
export function isSameSighting(a: Sighting, b: Sighting): boolean {
  return (
    a.source === b.source &&
    a.tick === b.tick &&
    a.publisher.state === b.publisher.state &&
    // What a stalled publisher is accused of is its age, which grows with every look.
    (a.publisher.reason === b.publisher.reason || a.publisher.state === 'stalled') &&
    b.changes.length === 0 &&
    a.hasMore === b.hasMore &&
    a.drops.objects === b.drops.objects &&
    a.drops.variables === b.drops.variables
  );
}
