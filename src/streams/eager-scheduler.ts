// The clock of running programs: what is due now runs as soon as others had their turn.
import { Subscription, asyncScheduler, queueScheduler } from 'rxjs';
import type { SchedulerAction, SchedulerLike } from 'rxjs';
import { turns } from './fair-turns.js';

/**
 * Like asyncScheduler, but without its delay: a timer of 0 ms takes 1 ms, in which a program that
 * works in many short slices would only wait. Sockets and timers have their turn before each.
 */
export const eagerScheduler: SchedulerLike = {
  now: () => asyncScheduler.now(),
  schedule: <T>(
    work: (this: SchedulerAction<T>, state?: T) => void,
    delay = 0,
    state?: T,
  ): Subscription => {
    if (delay > 0) return asyncScheduler.schedule(work, delay, state);
    const scheduled = new Subscription();
    const callOff = turns.soon(() => {
      scheduled.add(queueScheduler.schedule(work, 0, state));
    });
    scheduled.add(callOff);
    return scheduled;
  },
};
