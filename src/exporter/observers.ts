// Makes a status line, and log events about missing data, unready targets and the sink.
import {
  asyncScheduler,
  connect,
  debounceTime,
  defer,
  distinctUntilChanged,
  filter,
  interval,
  map,
  mergeMap,
  scan,
  startWith,
  take,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { pluralize } from '../pluralize.js';
import type { Target, TargetEvent } from '../model.js';
import type { SinkEvent, Targets } from '../sinks/sink.js';
import { aboutTarget } from '../targets/served-target.js';
import { discoveredName } from './discovery.js';
import type { Discovered } from './discovery.js';

/** The time between two checks of the targets. */
const PERIOD_MS = 5000;

interface Loss {
  readonly begins: (amount: number) => string;
  readonly ends: (amount: number) => string;
}

const noRoom = (what: string): Loss => ({
  begins: (amount) => `is missing ${amount} ${what}: its publisher had no room for them`,
  ends: () => `shows all ${what} again: its publisher has room for them`,
});
const leftOut = (what: string, why: string): Loss => ({
  begins: (amount) => `leaves out ${what}, ${amount} so far, because ${why}`,
  ends: (amount) => `no longer leaves out ${what}; it left out ${amount}, because ${why}`,
});
const LIMIT_REACHED = 'the target has reached its limit';

/** Messages about missing data, by internal metric. A gauge above 0 or a rising counter means that data is missing. */
export const LOSSES: ReadonlyMap<string, Loss> = new Map([
  ['shm_exporter_target_dropped_objects', noRoom('objects')],
  ['shm_exporter_target_dropped_variables', noRoom('variables')],
  [
    'shm_exporter_target_series_clashes_total',
    leftOut('series', 'other series have the same name and labels'),
  ],
  ['shm_exporter_target_series_omitted_total', leftOut('series', LIMIT_REACHED)],
  ['shm_exporter_target_objects_omitted_total', leftOut('objects', LIMIT_REACHED)],
  ['shm_exporter_target_variables_omitted_total', leftOut('variables', LIMIT_REACHED)],
]);

interface LossState {
  readonly amount: number;
  readonly isLosing: boolean;
}
const NO_LOSS: LossState = { amount: 0, isLosing: false };

/** Emits an event when a target begins to miss data, and when it has all data again. Never completes. */
export function watchLosses(
  registry: Targets,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<TargetEvent> {
  return defer(() => {
    const states = new WeakMap<Target, ReadonlyMap<string, LossState>>();
    const check = (target: Target): TargetEvent[] => {
      const before = states.get(target) ?? new Map<string, LossState>();
      const now = lossStates(target, before);
      states.set(target, now);
      return [...now].flatMap(([name, { amount, isLosing }]) => {
        const loss = LOSSES.get(name);
        if (loss === undefined || isLosing === (before.get(name) ?? NO_LOSS).isLosing) return [];
        const message = isLosing ? loss.begins(amount) : loss.ends(amount);
        return [aboutTarget(target, { level: isLosing ? 'warning' : 'info', message })];
      });
    };
    return interval(PERIOD_MS, scheduler).pipe(mergeMap(() => registry.targets.flatMap(check)));
  });
}

function lossStates(
  target: Target,
  before: ReadonlyMap<string, LossState>,
): Map<string, LossState> {
  const measured = target.internal().filter(({ name }) => LOSSES.has(name));
  const now = measured.map(({ name, type, value }): [string, LossState] => {
    const amount = Number(value);
    const former = (before.get(name) ?? NO_LOSS).amount;
    return [name, { amount, isLosing: amount > (type === 'counter' ? former : 0) }];
  });
  // A metric that has no value now, for example after the loss of the root, keeps its last state.
  return new Map([...before, ...now]);
}

/** The time after which the log reports an unready target. */
const MAX_UNREADY_MS = 10_000;

interface Wait {
  readonly sinceMs: number;
  readonly isReported: boolean;
}

/** Emits an event when a target has been unready for too long, and when that target is ready again. Never completes. */
export function watchReadiness(
  registry: Targets,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<TargetEvent> {
  return defer(() => {
    let waits = new Map<Target, Wait>();
    const startedMs = scheduler.now();
    let isFirst = true;
    const check = (): TargetEvent[] => {
      const now = scheduler.now();
      const events: TargetEvent[] = [];
      const next = new Map<Target, Wait>();
      const seconds = (sinceMs: number) => Math.round((now - sinceMs) / 1000);
      for (const target of registry.targets) {
        const { isReady, progress, publisher } = target.status();
        // Count the unready time from the check that first finds the target unready, or from the start if that is the
        // first check.
        const sinceMs = isFirst ? startedMs : now;
        const wait = waits.get(target) ?? { sinceMs, isReported: false };
        if (isReady) {
          const message = `became ready after ${seconds(wait.sinceMs)} s`;
          if (wait.isReported) events.push(aboutTarget(target, { level: 'info', message }));
          continue;
        }
        const isLate = !wait.isReported && now - wait.sinceMs >= MAX_UNREADY_MS;
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
    return interval(PERIOD_MS, scheduler).pipe(mergeMap(check));
  });
}

/** Emits a line about ready targets whenever the line changes, at most every five seconds. Never completes. */
export const statusLine = (
  registry: Targets,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<string> =>
  timer(0, PERIOD_MS, scheduler).pipe(
    map(() => {
      const statuses = registry.targets.map((target) => target.status());
      const ready = statuses.filter(({ isReady }) => isReady);
      return `${ready.length} of ${pluralize(statuses.length, 'target')} ready`;
    }),
    distinctUntilChanged(),
  );

/** The time without a refusal after which the log reports that refusals have ended. */
const CALM_MS = 300_000;
/** The log reports the refusals of at most this many pairs of address and reason at a time. Metrics count all. */
const MAX_REFUSALS = 16;

/** Emits an event when the sink first refuses an address for a given reason, and another one when these refusals have ended. */
export function watchRefusals(
  event$: Observable<SinkEvent>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<TargetEvent> {
  return defer(() => {
    const reported = new Set<string>();
    return event$.pipe(
      filter((event) => event.kind === 'refused'),
      map(({ address, reason }) => `from ${address}: ${reason}`),
      connect((refusal$) =>
        refusal$.pipe(
          filter((refusal) => !reported.has(refusal) && reported.size < MAX_REFUSALS),
          mergeMap((refusal) => {
            reported.add(refusal);
            const ended$ = refusal$.pipe(
              filter((each) => each === refusal),
              startWith(refusal),
              scan((times) => times + 1, 0),
              debounceTime(CALM_MS, scheduler),
              take(1),
              map((times): TargetEvent => {
                reported.delete(refusal);
                const message = `has refused no connection for ${CALM_MS / 60_000} minutes, after ${pluralize(times, 'refusal')} ${refusal}`;
                return { level: 'info', message };
              }),
            );
            const began: TargetEvent = {
              level: 'warning',
              message: `refuses connections ${refusal}`,
            };
            return ended$.pipe(startWith(began));
          }),
        ),
      ),
    );
  });
}

/** The maximum number of reasons for skipped snapshots that are logged until the sink delivers a snapshot again. */
const MAX_REASONS = 8;

export function sinkLog(log: (event: TargetEvent) => void): (event: SinkEvent) => void {
  let skipped = 0;
  const reported = new Set<string>();
  return (event) => {
    switch (event.kind) {
      case 'opened':
        log({ level: 'info', message: `metrics at ${event.where}` });
        break;
      case 'skipped':
        skipped++;
        if (reported.has(event.reason) || reported.size >= MAX_REASONS) break;
        reported.add(event.reason);
        log({ level: 'warning', message: `${event.reason}: skipping snapshots` });
        break;
      case 'served':
        if (event.outcome === 'cut')
          log({ level: 'debug', message: `a response was cut off after ${event.bytes} bytes` });
        if (skipped === 0 || event.outcome !== 'delivered') break;
        log({ level: 'info', message: `serving again: skipped ${skipped} snapshots` });
        skipped = 0;
        reported.clear();
        break;
      case 'refused':
        // `watchRefusals` reports refusals.
        break;
    }
  };
}

/** Logs the targets that discovery adds and removes, and the publishers that it leaves out. */
export function discoveryLog(log: (event: TargetEvent) => void): (found: Discovered) => void {
  let known = new Set<string>();
  let reported = '';
  return ({ targets, leftOut }) => {
    const names = new Set(targets.map(discoveredName));
    for (const name of names)
      if (!known.has(name)) log({ level: 'info', message: `discovered target ${name}` });
    for (const name of known)
      if (!names.has(name))
        log({
          level: 'info',
          message: `removed target ${name}: its publisher has ended, or the configuration has a target for it`,
        });
    known = names;
    const [first = ''] = leftOut;
    if (first === reported) return;
    reported = first;
    if (first === '') log({ level: 'info', message: 'discovery leaves out no publisher' });
    else {
      const count = pluralize(leftOut.length, 'publisher');
      log({ level: 'warning', message: `discovery leaves out ${count}; the first: ${first}` });
    }
  };
}
