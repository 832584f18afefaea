// Virtual time that a test moves by hand.
import { VirtualTimeScheduler } from 'rxjs';

export class VirtualClock extends VirtualTimeScheduler {
  constructor() {
    super(undefined, 0);
  }

  /** Does all that is due within the next `ms` milliseconds, then stands at their end. */
  advance(ms: number): void {
    const end = this.frame + ms;
    this.maxFrames = end;
    this.flush();
    this.frame = end;
  }

  /** Does the next thing that is due now; false when nothing is. */
  step(): boolean {
    const [action] = this.actions;
    if (action === undefined || action.delay > this.frame) return false;
    this.actions.shift();
    action.execute(action.state, action.delay);
    return true;
  }
}
