// Since when a target is as it is, and when its newest value came: noted as its facts arrive.
import type { TargetTimes } from '../model.js';
import type { TargetFacts } from '../streams/target-facts.js';

type Noted = Pick<TargetFacts, 'isReady' | 'tick' | 'root' | 'view'>;

export class TargetHistory {
  #since: number;
  #isReady = false;
  #root = '';
  #tick: number | undefined;
  /** When the tick was seen to move. */
  #movedMs: number | undefined;
  /** The moment that the publisher states, in Unix ms. */
  #statedMs: number | undefined;

  /** @param unixMs when it was made; all times are Unix milliseconds */
  constructor(unixMs: number) {
    this.#since = unixMs;
  }

  get times(): TargetTimes {
    const stated = this.#statedMs;
    if (stated !== undefined)
      return { since: this.#since, newest: { unixMs: stated, by: 'stated' } };
    const moved = this.#movedMs;
    const newest = moved === undefined ? undefined : ({ unixMs: moved, by: 'notified' } as const);
    return { since: this.#since, newest };
  }

  note({ isReady, tick, root, view }: Noted, unixMs: number): void {
    if (isReady !== this.#isReady) this.#since = unixMs;
    this.#isReady = isReady;
    // Another partition, or the same root again, goes on with the same tick.
    if (root !== '' && root !== this.#root) this.#tick = this.#movedMs = undefined;
    if (root !== '') this.#root = root;
    if (tick !== undefined) {
      if (this.#tick !== undefined && tick !== this.#tick) this.#movedMs = unixMs;
      this.#tick = tick;
    }
    this.#statedMs = view?.asOfNs === undefined ? undefined : Number(view.asOfNs / 1_000_000n);
  }
}
