// When the readiness of a target last changed, and the time of its newest value, across its hostings.
import type { TargetTimes } from '../model.js';
import type { Notifications, TargetState } from '../streams/report.js';

/** The last notification of a publisher. */
interface LastNotification {
  /** When the exporter noticed it. */
  readonly ms: number;
  /** True if it happened before the exporter first read the counter of notifications. Then it is older than `ms`. */
  readonly isEarlier: boolean;
}

/** All times are milliseconds of a monotonic clock. */
export class TargetHistory {
  #sinceMs: number;
  #isReady = false;
  #hasRoot = false;
  #notifications: Notifications | undefined;
  /** Undefined until the publisher has notified. */
  #last: LastNotification | undefined;
  /** The Unix time in milliseconds that the publisher states for its values (as-of time). */
  #statedUnixMs: number | undefined;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  /** Seconds since the last notification, or since the first read of the counter if that was later. */
  notificationAge(nowMs: number): number | undefined {
    return this.#hasRoot && this.#last !== undefined ? (nowMs - this.#last.ms) / 1000 : undefined;
  }

  times(nowMs: number, unixMs: number): TargetTimes {
    const sinceSeconds = (nowMs - this.#sinceMs) / 1000;
    if (this.#statedUnixMs !== undefined) {
      const ageSeconds = (unixMs - this.#statedUnixMs) / 1000;
      return { sinceSeconds, newest: { ageSeconds, by: 'stated' } };
    }
    const ageSeconds = this.notificationAge(nowMs);
    if (ageSeconds === undefined) return { sinceSeconds, newest: undefined };
    const by = this.#last?.isEarlier === true ? 'earlier' : 'notified';
    return { sinceSeconds, newest: { ageSeconds, by } };
  }

  note({ isReady, notifications, root, view }: TargetState, nowMs: number): void {
    if (isReady !== this.#isReady) this.#sinceMs = nowMs;
    this.#isReady = isReady;
    this.#hasRoot = root !== undefined;
    if (notifications !== undefined) this.#noteNotifications(notifications, nowMs);
    this.#statedUnixMs = view?.asOfNs === undefined ? undefined : Number(view.asOfNs / 1_000_000n);
  }

  /**
   * Continues the count of a known publisher, after a move or a loss of the root. Starts anew for another publisher.
   */
  #noteNotifications(next: Notifications, nowMs: number): void {
    const isKnown = next.generation === this.#notifications?.generation;
    if (!isKnown) this.#last = next.count === 0 ? undefined : { ms: nowMs, isEarlier: true };
    else if (next.count !== this.#notifications?.count)
      this.#last = { ms: nowMs, isEarlier: false };
    this.#notifications = next;
  }
}
