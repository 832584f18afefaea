// Estimates quantiles of the values of a sliding window.
import tdigest from 'tdigest';
import type { TDigest } from 'tdigest';

const newDigest = (): TDigest => new tdigest.TDigest();

/**
 * A ring of digests, each of which begins later than the previous one. A value goes into all of them. The oldest one
 * covers the window; it is emptied when it becomes the newest. Without a window, there is one digest for all values.
 */
export class QuantileWindow {
  readonly #digests: TDigest[];
  /** Time until the oldest digest is emptied. */
  readonly #stepMs: number;
  #oldest = 0;
  #steppedMs: number;

  constructor(maxAgeSeconds: number | undefined, ageBuckets: number | undefined, nowMs: number) {
    const isSliding = maxAgeSeconds !== undefined && ageBuckets !== undefined;
    this.#digests = Array.from({ length: isSliding ? ageBuckets : 1 }, newDigest);
    this.#stepMs = isSliding ? (maxAgeSeconds * 1000) / ageBuckets : Infinity;
    this.#steppedMs = nowMs;
  }

  push(value: number, nowMs: number): void {
    this.#slide(nowMs);
    for (const digest of this.#digests) digest.push(value);
  }

  compress(): void {
    for (const digest of this.#digests) digest.compress();
  }

  /** Returns the values of quantiles; 0 without observations in the window, as prom-client does. */
  values(quantiles: readonly number[], nowMs: number): number[] {
    const digest = this.#slide(nowMs);
    digest?.compress();
    return quantiles.map((quantile) => digest?.percentile(quantile) ?? 0);
  }

  isEmpty(nowMs: number): boolean {
    return (this.#slide(nowMs)?.size() ?? 0) === 0;
  }

  /** Empties the digests whose time has come; returns the oldest one. */
  #slide(nowMs: number): TDigest | undefined {
    const digests = this.#digests;
    const steps = Math.max(Math.ceil((nowMs - this.#steppedMs) / this.#stepMs) - 1, 0);
    for (let step = 0; step < Math.min(steps, digests.length); step++) {
      digests[this.#oldest] = newDigest();
      this.#oldest = (this.#oldest + 1) % digests.length;
    }
    if (steps > 0) this.#steppedMs += steps * this.#stepMs;
    return digests[this.#oldest];
  }
}
