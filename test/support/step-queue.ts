// A refresh queue whose event-loop iterations a test starts one by one.
import { TaskQueue, Scheduler } from '#app/streams/scheduler.js';
import type { VirtualClock } from './virtual-clock.js';

export class StepQueue extends TaskQueue {
  /** The iterations that wait for `step()`; undefined after `free()`. */
  #waiting: (() => void)[] | undefined = [];
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    const now = () => clock.now();
    const yieldTo = (iterate: () => void): void => {
      this.#later(iterate);
    };
    super(new Scheduler(now, yieldTo), now);
    this.#clock = clock;
  }

  /** Runs the next iteration; returns false if none waits. */
  step(): boolean {
    const iterate = this.#waiting?.shift();
    iterate?.();
    return iterate !== undefined;
  }

  /** Runs iterations until none waits. */
  stepAll(): void {
    while (this.step());
  }

  /** From now on, iterations run as virtual time advances, without `step()`. */
  free(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const iterate of waiting) this.#later(iterate);
  }

  #later(iterate: () => void): void {
    if (this.#waiting === undefined) this.#clock.schedule(iterate);
    else this.#waiting.push(iterate);
  }
}
