// One line on all targets, for those who ask systemd.
import { asyncScheduler, distinctUntilChanged, map, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { counted } from '../counted.js';
import type { Targets } from '../sinks/sink.js';

const PERIOD_MS = 5000;

/** Emits the line when it changes, at most every five seconds. Never completes. */
export const statusLine = (
  registry: Targets,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<string> =>
  timer(0, PERIOD_MS, scheduler).pipe(
    map(() => {
      const statuses = registry.targets.map((target) => target.status());
      const ready = statuses.filter(({ isReady }) => isReady);
      return `${ready.length} of ${counted(statuses.length, 'target')} ready`;
    }),
    distinctUntilChanged(),
  );
