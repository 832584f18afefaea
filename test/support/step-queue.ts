// A queue whose turns come one by one, when a test says so.
import { RefreshQueue } from '#app/streams/refresh-queue.js';
import { Scheduler } from '#app/streams/scheduler.js';
import type { VirtualClock } from './virtual-clock.js';

export class StepQueue extends RefreshQueue {
  /** Turns that wait; undefined once they come by themselves. */
  #waiting: (() => void)[] | undefined = [];
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    const now = () => clock.now();
    const yieldTo = (turn: () => void): void => {
      this.#later(turn);
    };
    super(new Scheduler(now, yieldTo), now);
    this.#clock = clock;
  }

  /** Lets the next turn come; false when none is waited for. */
  step(): boolean {
    const turn = this.#waiting?.shift();
    turn?.();
    return turn !== undefined;
  }

  /** Lets all turns come that are waited for. */
  stepAll(): void {
    while (this.step());
  }

  /** From now on turns come by themselves. */
  free(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const turn of waiting) this.#later(turn);
  }

  #later(turn: () => void): void {
    if (this.#waiting === undefined) this.#clock.schedule(turn);
    else this.#waiting.push(turn);
  }
}
