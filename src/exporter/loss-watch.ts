// Reports when something begins to be missing from the pages of a target, and when that ends.
import { asyncScheduler, defer, interval, mergeMap } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { Target, TargetEvent } from '../model.js';
import type { Targets } from '../sinks/sink.js';
import { aboutTarget } from '../targets/about-target.js';

/** How often targets are checked; rare enough to cost an idle process nothing. */
const PERIOD_MS = 5000;

interface Loss {
  readonly begins: (amount: number) => string;
  readonly ends: (amount: number) => string;
}

const noRoom = (what: string): Loss => ({
  begins: (amount) => `shows less than it should: its publisher had no room for ${amount} ${what}`,
  ends: () => `shows all ${what} again: its publisher has room for them`,
});
const leftOut = (what: string, why: string): Loss => ({
  begins: (amount) => `leaves out ${what}: ${amount} so far, ${why}`,
  ends: (amount) => `leaves out no further ${what}: ${amount} so far, ${why}`,
});
const MORE = 'since the target may have no more';

/** By internal metric. A gauge above 0 and a rising counter mean that something is missing. */
export const LOSSES: ReadonlyMap<string, Loss> = new Map([
  ['shm_exporter_target_dropped_objects', noRoom('objects')],
  ['shm_exporter_target_dropped_variables', noRoom('variables')],
  [
    'shm_exporter_target_series_clashes_total',
    leftOut('series', 'since others have their name and labels'),
  ],
  ['shm_exporter_target_series_omitted_total', leftOut('series', MORE)],
  ['shm_exporter_target_objects_omitted_total', leftOut('objects', MORE)],
  ['shm_exporter_target_variables_omitted_total', leftOut('variables', MORE)],
]);

interface Seen {
  readonly amount: number;
  readonly isLosing: boolean;
}
const NOTHING_SEEN: Seen = { amount: 0, isLosing: false };

/** Emits an event when a loss of any target begins and when it ends. Never completes. */
export function lossWatch(
  registry: Targets,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<TargetEvent> {
  return defer(() => {
    const seen = new WeakMap<Target, ReadonlyMap<string, Seen>>();
    const look = (target: Target): TargetEvent[] => {
      const before = seen.get(target) ?? new Map<string, Seen>();
      const now = losing(target, before);
      seen.set(target, now);
      return [...now].flatMap(([name, { amount, isLosing }]) => {
        const loss = LOSSES.get(name);
        if (loss === undefined || isLosing === (before.get(name) ?? NOTHING_SEEN).isLosing)
          return [];
        const message = isLosing ? loss.begins(amount) : loss.ends(amount);
        return [aboutTarget(target, { level: isLosing ? 'warning' : 'info', message })];
      });
    };
    return interval(PERIOD_MS, scheduler).pipe(mergeMap(() => registry.targets.flatMap(look)));
  });
}

function losing(target: Target, before: ReadonlyMap<string, Seen>): Map<string, Seen> {
  const measured = target.internal().filter(({ name }) => LOSSES.has(name));
  const now = measured.map(({ name, type, value }): [string, Seen] => {
    const amount = Number(value);
    const former = (before.get(name) ?? NOTHING_SEEN).amount;
    return [name, { amount, isLosing: amount > (type === 'counter' ? former : 0) }];
  });
  // A metric without a current value, as while the root is lost, keeps its last state.
  return new Map([...before, ...now]);
}
