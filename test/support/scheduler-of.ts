// A scheduler in virtual time. Each iteration of the event loop takes `iterationMs`.
import type { SchedulerLike } from 'rxjs';
import { Scheduler } from '#app/streams/scheduler.js';

export const schedulerOf = (clock: SchedulerLike, iterationMs = 0): Scheduler =>
  new Scheduler(
    () => clock.now(),
    (next) => void clock.schedule(next, iterationMs),
  );
