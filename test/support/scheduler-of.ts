// A scheduler in virtual time: a turn of the event loop takes no time, unless a test says so.
import type { SchedulerLike } from 'rxjs';
import { Scheduler } from '#app/streams/scheduler.js';

export const schedulerOf = (clock: SchedulerLike, turnMs = 0): Scheduler =>
  new Scheduler(
    () => clock.now(),
    (next) => void clock.schedule(next, turnMs),
  );
