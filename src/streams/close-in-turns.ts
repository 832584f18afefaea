// Frees what a target leaves: a little in each turn of the event loop, since it may be very much.
import { asyncScheduler } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { Budget } from '../budget.js';

/**
 * Begins at once. Nobody waits for the end, and a process that exits needs none.
 * @param slice what one turn may take; without limit by default
 */
export function closeInTurns(
  steps: Iterator<void>,
  slice = () => new Budget(),
  scheduler: SchedulerLike = asyncScheduler,
): void {
  const budget = slice();
  while (steps.next().done !== true) {
    if (!budget.isSpent) continue;
    scheduler.schedule(() => {
      closeInTurns(steps, slice, scheduler);
    });
    return;
  }
}
