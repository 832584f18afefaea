// Reports a target that takes long to become ready: once that it waits, and once that it goes on.
import { asyncScheduler, defer, interval, mergeMap } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { Target, TargetEvent } from '../model.js';
import type { Targets } from '../sinks/sink.js';
import { aboutTarget } from '../targets/about-target.js';

/** How often targets are checked; rare enough to cost an idle process nothing. */
const PERIOD_MS = 5000;
/** A target that is ready sooner is not worth a line. */
const PATIENCE_MS = 10_000;

interface Wait {
  readonly sinceMs: number;
  readonly isReported: boolean;
}

/** Emits an event when a target has waited for too long and when it is ready. Never completes. */
export function waitWatch(
  registry: Targets,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<TargetEvent> {
  return defer(() => {
    let waits = new Map<Target, Wait>();
    const startedMs = scheduler.now();
    let isFirst = true;
    const look = (): TargetEvent[] => {
      const now = scheduler.now();
      const events: TargetEvent[] = [];
      const next = new Map<Target, Wait>();
      const seconds = (sinceMs: number) => Math.round((now - sinceMs) / 1000);
      for (const target of registry.targets) {
        const { isReady, progress, publisher } = target.status();
        // The wait counts from the first check that found it, or from the start: when it really began is unknown.
        const sinceMs = isFirst ? startedMs : now;
        const wait = waits.get(target) ?? { sinceMs, isReported: false };
        if (isReady) {
          const message = `goes on: it is ready after ${seconds(wait.sinceMs)} s`;
          if (wait.isReported) events.push(aboutTarget(target, { level: 'info', message }));
          continue;
        }
        const isLate = !wait.isReported && now - wait.sinceMs >= PATIENCE_MS;
        const hint =
          publisher.state === 'absent'
            ? '; --check-config --live lists the existing publishers'
            : '';
        const message = `has not been ready for ${seconds(wait.sinceMs)} s: waiting on ${progress.reason}${hint}`;
        if (isLate) events.push(aboutTarget(target, { level: 'warning', message }));
        next.set(target, { ...wait, isReported: wait.isReported || isLate });
      }
      waits = next;
      isFirst = false;
      return events;
    };
    return interval(PERIOD_MS, scheduler).pipe(mergeMap(look));
  });
}
