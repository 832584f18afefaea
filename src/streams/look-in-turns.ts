// Does a look at a tree in slices: a little of it in each turn of the event loop.
import { Observable, asyncScheduler } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
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
  new Observable((subscriber) => {
    const all = steps();
    const turn = (): void => {
      const budget = slice();
      do {
        const { done, value } = all.next();
        if (done !== true) continue;
        subscriber.next(value);
        subscriber.complete();
        return;
      } while (!budget.isSpent);
      subscriber.add(scheduler.schedule(turn));
    };
    subscriber.add(
      scheduler.schedule(() => {
        turn();
      }),
    );
  });
