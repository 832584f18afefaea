// SeededClock is a virtual clock. A seed decides the order of the tasks that are due.
import { VirtualTimeScheduler } from 'rxjs';
import { messageOf } from '#app/errors.js';
import type { Random } from '#app/simulator/course.js';

/** The maximum number of steps, to detect work that never ends. */
const MAX_STEPS = 200_000;

export class SeededClock extends VirtualTimeScheduler {
  readonly #random: Random;

  constructor(random: Random) {
    super(undefined, Infinity);
    this.#random = random;
  }

  /** Runs a task after a random time of at most `mostMs`. */
  soon(work: () => void, mostMs = 2): void {
    this.schedule(work, this.#random.below(mostMs + 1));
  }

  /**
   * Runs a random one of the tasks that are due. If none is due, advances the time to the next task first.
   * Returns false if there is no task until `endMs`.
   */
  step(endMs = Infinity): boolean {
    const [next] = this.actions;
    if (next === undefined) return false;
    if (next.delay > this.frame) {
      if (next.delay > endMs) return false;
      this.frame = next.delay;
    }
    let due = 0;
    while ((this.actions[due]?.delay ?? Infinity) <= this.frame) due++;
    const [action] = this.actions.splice(this.#random.below(due), 1);
    if (action?.closed === false) run(() => action.execute(action.state, action.delay));
    return true;
  }

  /** Advances by `ms` and runs all tasks that become due. */
  pass(ms: number): void {
    const endMs = this.frame + ms;
    for (let steps = 0; this.step(endMs); steps++)
      if (steps > MAX_STEPS) throw new Error(`more than ${MAX_STEPS} steps within ${ms} ms`);
    this.frame = endMs;
  }
}

/** @throws the error of the task */
function run(work: () => unknown): void {
  const error = work();
  if (error !== undefined) throw error instanceof Error ? error : new Error(messageOf(error));
}
