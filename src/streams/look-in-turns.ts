// Does a look at a tree in slices: a little of it in each turn of the event loop.
import { asyncScheduler, defer, filter, map, repeat, take, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { Budget } from '../budget.js';

/**
 * Emits what the steps end with, and completes; unsubscribing ends them.
 * @param slice what one turn may take; without limit by default
 */
export const lookInTurns = <T>(
  steps: () => Iterator<void, T>,
  slice = () => new Budget(),
  scheduler: SchedulerLike = asyncScheduler,
): Observable<T> =>
  defer(() => {
    const all = steps();
    return timer(0, scheduler).pipe(
      map(() => turn(all, slice())),
      repeat(),
      filter((last) => last !== undefined),
      map(({ value }) => value),
      take(1),
    );
  });

/** The last step; undefined while there are more. */
function turn<T>(steps: Iterator<void, T>, budget: Budget): IteratorReturnResult<T> | undefined {
  do {
    const step = steps.next();
    if (step.done === true) return step;
  } while (!budget.isSpent);
  return undefined;
}
