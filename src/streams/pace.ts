// How much of each second the work for one target may take. What is beyond waits.
import { asyncScheduler } from 'rxjs';
import type { SchedulerLike, Subscription } from 'rxjs';

const SECOND_MS = 1000;

export class Pace {
  readonly #msPerSecond: number;
  readonly #nowMs: () => number;
  readonly #scheduler: SchedulerLike;
  /** What may be spent at once: at most the share of a second. Below 0 it is owed, no more than that. */
  #spareMs: number;
  #atMs: number;
  #pausedMs = 0;

  /** @param nowMs milliseconds of a clock that does not step */
  constructor(msPerSecond: number, nowMs: () => number, scheduler: SchedulerLike = asyncScheduler) {
    this.#msPerSecond = this.#spareMs = msPerSecond;
    this.#nowMs = nowMs;
    this.#scheduler = scheduler;
    this.#atMs = nowMs();
  }

  /** Milliseconds for which work had to wait so far. */
  get pausedMs(): number {
    return this.#pausedMs;
  }

  /** Work took so many milliseconds. */
  spend(ms: number): void {
    this.#refill();
    // Where others had the processor, work seems to take long: no wait is longer than a second.
    this.#spareMs = Math.max(this.#spareMs - ms, -this.#msPerSecond);
  }

  /** Calls back once more work may begin: now, if something is left. Unsubscribing calls it off. */
  whenFree(work: () => void): Subscription | undefined {
    this.#refill();
    const owedMs = -this.#spareMs;
    if (owedMs <= 0) {
      work();
      return undefined;
    }
    const waitMs = Math.ceil((owedMs * SECOND_MS) / this.#msPerSecond);
    this.#pausedMs += waitMs;
    return this.#scheduler.schedule(work, waitMs);
  }

  #refill(): void {
    const now = this.#nowMs();
    const earnedMs = ((now - this.#atMs) * this.#msPerSecond) / SECOND_MS;
    this.#spareMs = Math.min(this.#msPerSecond, this.#spareMs + earnedMs);
    this.#atMs = now;
  }
}
