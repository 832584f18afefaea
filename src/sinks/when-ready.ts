// Waits for the targets of a process.
import { asyncScheduler, filter, map, take, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { Targets } from './sink.js';

/** How often it is looked whether they are ready. */
const LOOK_MS = 50;

/** Emits once: when all targets are ready, at the latest after `longestMs`. */
export const whenReady = (
  registry: Targets,
  longestMs: number,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<void> =>
  timer(0, LOOK_MS, scheduler).pipe(
    filter(
      (looks) =>
        looks * LOOK_MS >= longestMs || registry.targets.every((target) => target.status().isReady),
    ),
    take(1),
    map(() => undefined),
  );
