// Counts what happens to a target in its partition, from one report to the next.
import type { TargetView } from '../../exposition/target-view.js';
import type { Counted } from '../../streams/target-facts.js';

type Counts = Pick<TargetView, 'clashes' | 'omitted' | 'staleFrames'>;

const NONE: Counts = { clashes: 0, omitted: 0, staleFrames: 0 };

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
    this.#left = sum(this.#left, difference(this.#view, this.#reported));
    this.#view = view;
    this.#reported = NONE;
  }

  /** What was counted since this was asked last. */
  take(): Counted {
    const { clashes, omitted, staleFrames } = this.#view;
    const now = { clashes, omitted, staleFrames };
    const counted = sum(this.#left, difference(now, this.#reported));
    const refreshesMs = this.#refreshesMs;
    this.#reported = now;
    this.#left = NONE;
    this.#refreshesMs = [];
    return { refreshesMs, ...counted };
  }
}

const sum = (a: Counts, b: Counts): Counts => ({
  clashes: a.clashes + b.clashes,
  omitted: a.omitted + b.omitted,
  staleFrames: a.staleFrames + b.staleFrames,
});

const difference = (a: Counts, b: Counts): Counts => ({
  clashes: a.clashes - b.clashes,
  omitted: a.omitted - b.omitted,
  staleFrames: a.staleFrames - b.staleFrames,
});
