// When the readiness of a target last changed, and the time of its newest value, across its hostings.
import type { TargetTimes } from '../model.js';
import type { TargetState } from '../streams/report.js';

export class TargetHistory {
  #since: number;
  #isReady = false;
  #root = '';
  #notifications: number | undefined;
  /** The time of the last change of the number of notifications. */
  #notifiedMs: number | undefined;
  /** The time that the publisher states for its values (as-of time), in Unix ms. */
  #statedMs: number | undefined;

  /** @param unixMs the present; all times are Unix milliseconds */
  constructor(unixMs: number) {
    this.#since = unixMs;
  }

  get times(): TargetTimes {
    const stated = this.#statedMs;
    if (stated !== undefined)
      return { since: this.#since, newest: { unixMs: stated, by: 'stated' } };
    const moved = this.#notifiedMs;
    const newest = moved === undefined ? undefined : ({ unixMs: moved, by: 'notified' } as const);
    return { since: this.#since, newest };
  }

  note({ isReady, notifications, root, view }: TargetState, unixMs: number): void {
    if (isReady !== this.#isReady) this.#since = unixMs;
    this.#isReady = isReady;
    // In another partition, or after a loss, the same root still has the same number.
    if (root !== '' && root !== this.#root) this.#notifications = this.#notifiedMs = undefined;
    if (root !== '') this.#root = root;
    if (notifications !== undefined) {
      if (this.#notifications !== undefined && notifications !== this.#notifications)
        this.#notifiedMs = unixMs;
      this.#notifications = notifications;
    }
    this.#statedMs = view?.asOfNs === undefined ? undefined : Number(view.asOfNs / 1_000_000n);
  }
}
