// A scheduler whose virtual time a test advances.
import { VirtualTimeScheduler } from 'rxjs';

export class VirtualClock extends VirtualTimeScheduler {
  constructor() {
    super(undefined, 0);
  }

  /** Runs all actions that are due within the next `ms` milliseconds, and advances the time by `ms`. */
  advance(ms: number): void {
    const end = this.frame + ms;
    this.maxFrames = end;
    this.flush();
    this.frame = end;
  }

  /** Runs the next action that is due now; returns false if there is none. */
  step(): boolean {
    const [action] = this.actions;
    if (action === undefined || action.delay > this.frame) return false;
    this.actions.shift();
    action.execute(action.state, action.delay);
    return true;
  }
}
