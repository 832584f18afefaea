// The queue of a partition: refreshes that are done one at a time. Spec 1.10.
import { performance } from 'node:perf_hooks';
import { Observable, concatMap, map } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { SampleWindow } from '../exposition/sample-window.js';
import type { Durations } from '../exposition/sample-window.js';

export class RefreshQueue {
  readonly #waits = new SampleWindow();
  readonly #now: () => number;
  readonly #yield: (next: () => void) => void;
  readonly #queue: (() => void)[] = [];
  readonly #startedMs: number;
  #busyMs = 0;
  #isBusy = false;

  constructor(
    now: () => number = () => performance.now(),
    yieldTo: (next: () => void) => void = setImmediate,
  ) {
    this.#now = now;
    this.#yield = yieldTo;
    this.#startedMs = now();
  }

  /** How long refreshes waited for their turn. */
  get waits(): Durations {
    return this.#waits.durations;
  }

  /** Time spent on refreshes, divided by the time spent waiting for one. */
  get busyIdleRatio(): number {
    const idleMs = this.#now() - this.#startedMs - this.#busyMs;
    return idleMs > 0 ? this.#busyMs / idleMs : 0;
  }

  /**
   * Emits once when it is this caller's turn; the turn lasts until the emission returns.
   * @param took hears how many milliseconds it lasted
   */
  turn(took: (ms: number) => void): Observable<void> {
    return new Observable((subscriber) => {
      const askedMs = this.#now();
      this.#queue.push(() => {
        if (subscriber.closed) return;
        const startedMs = this.#now();
        this.#waits.add(startedMs - askedMs);
        subscriber.next();
        took(this.#now() - startedMs);
        subscriber.complete();
      });
      if (!this.#isBusy) this.#work();
    });
  }

  /** Does the next refresh, and lets the event loop turn before the one after it. */
  #work(): void {
    const job = this.#queue.shift();
    this.#isBusy = job !== undefined;
    if (job === undefined) return;
    const startedMs = this.#now();
    try {
      job();
    } finally {
      this.#busyMs += this.#now() - startedMs;
      // Even when nobody waits: who comes before the loop has turned would hold it up as well.
      this.#yield(() => this.#work());
    }
  }
}

/** Lets each event through in its turn: what follows is done one refresh at a time. */
export function inTurn<T>(
  queue: RefreshQueue,
  took: (ms: number) => void,
): MonoTypeOperatorFunction<T> {
  return (event$) => event$.pipe(concatMap((event) => queue.turn(took).pipe(map(() => event))));
}
