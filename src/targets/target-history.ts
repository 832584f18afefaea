// Since when a target is ready or not, and the age of its newest value, across its hostings.
import type { TargetTimes } from '../model.js';
import type { TargetState } from '../streams/report.js';

export class TargetHistory {
  #since: number;
  #isReady = false;
  #root = '';
  #tick: number | undefined;
  /** When the tick changed last. */
  #movedMs: number | undefined;
  /** The moment of the values that the publisher states, in Unix ms. */
  #statedMs: number | undefined;

  /** @param unixMs the present; all times are Unix milliseconds */
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

  note({ isReady, tick, root, view }: TargetState, unixMs: number): void {
    if (isReady !== this.#isReady) this.#since = unixMs;
    this.#isReady = isReady;
    // In another partition, or after a loss, the same root still has the same tick.
    if (root !== '' && root !== this.#root) this.#tick = this.#movedMs = undefined;
    if (root !== '') this.#root = root;
    if (tick !== undefined) {
      if (this.#tick !== undefined && tick !== this.#tick) this.#movedMs = unixMs;
      this.#tick = tick;
    }
    this.#statedMs = view?.asOfNs === undefined ? undefined : Number(view.asOfNs / 1_000_000n);
  }
}
