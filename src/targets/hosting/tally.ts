// Counts what happens to a target in its partition, from one report to the next.
import { NOTHING_COUNTED } from '../../streams/target-facts.js';
import type { Counted } from '../../streams/target-facts.js';

/** What a view counts. */
type Counts = Omit<Counted, 'refreshesMs'>;

const NONE: Counts = NOTHING_COUNTED;

export class Tally {
  #refreshesMs: number[] = [];
  #view: Counts = NONE;
  /** What the present view had counted when it was reported last. */
  #reported = NONE;
  /** What views before it counted and was not reported. */
  #left = NONE;

  refreshed(tookMs: number): void {
    this.#refreshesMs.push(tookMs);
  }

  /** Another view counts from now on, or none. */
  viewed(view: Counts = NONE): void {
    this.#left = combined(this.#left, this.#news);
    this.#view = view;
    this.#reported = NONE;
  }

  /** What was counted since this was asked last. */
  take(): Counted {
    const counts = combined(this.#left, this.#news);
    const refreshesMs = this.#refreshesMs;
    this.#reported = combined(this.#view, NONE);
    this.#left = NONE;
    this.#refreshesMs = [];
    return { refreshesMs, ...counts };
  }

  /** What the view counted since it was reported. */
  get #news(): Counts {
    return combined(this.#view, this.#reported, -1);
  }
}

const combined = (a: Counts, b: Counts, sign: 1 | -1 = 1): Counts => ({
  clashes: a.clashes + sign * b.clashes,
  omitted: a.omitted + sign * b.omitted,
  omittedObjects: a.omittedObjects + sign * b.omittedObjects,
  omittedVariables: a.omittedVariables + sign * b.omittedVariables,
  staleFrames: a.staleFrames + sign * b.staleFrames,
});
