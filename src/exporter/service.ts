// Builds every part from the configuration and runs it: the only place that knows them all.
import { performance } from 'node:perf_hooks';
import {
  EMPTY,
  Subject,
  defer,
  exhaustMap,
  finalize,
  ignoreElements,
  interval,
  merge,
  mergeMap,
  takeUntil,
  tap,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { changedSettings } from '../config/changed-settings.js';
import type { Config } from '../config/resolve.js';
import { notReadyText } from '../exposition/page/not-ready-text.js';
import { OPEN_METRICS } from '../exposition/page/open-metrics.js';
import { jsonDocument, textDocument } from '../exposition/page/stdout-document.js';
import { TEXT } from '../exposition/page/text-format.js';
import { loadLicense } from '../license/license-file.js';
import type { LicenseStatus } from '../license/license-status.js';
import { watchLicense } from '../license/license-watch.js';
import type { TargetEvent } from '../model.js';
import { FutexWaiter } from '../native/os/futex-waiter.js';
import type { SharedMemory } from '../native/os/shared-memory.js';
import { PartitionSet } from '../targets/hosting/partition-set.js';
import { partitionCount } from '../targets/placement/placement.js';
import type { Plan } from './plan.js';
import { ScopeRegistry } from './scope-registry.js';
import { httpSink } from '../sinks/http/http.js';
import { SelfMetrics } from '../sinks/self-metrics.js';
import type { Sink, SinkEvent } from '../sinks/sink.js';
import { stdoutSink } from '../sinks/stdout/stdout.js';
import type { PageWriter } from '../sinks/stdout/stdout.js';
import { TargetRegistry } from '../targets/target-registry.js';

/** What the service needs from the process that it runs in. */
export interface Surroundings {
  readonly version: string;
  readonly memory: (waiter: FutexWaiter) => SharedMemory;
  /** Unix time in milliseconds. */
  readonly unixMs: () => number;
  readonly stdout: () => PageWriter;
  readonly log: (event: TargetEvent) => void;
}

/** How often targets are moved to even out the load, how many at once, and from which load on. */
const REBALANCE_MS = 30_000;
const MOST_MOVES = 8;
const LEAST_LOAD = 0.01;

/** A configuration, checked, with what its targets are. */
export interface Planned {
  readonly config: Config;
  readonly plan: Plan;
}

/**
 * Runs while it is subscribed to; completes when stdout has no reader any more.
 * @param reload$ configurations that take the place of the first; of their settings only those of
 *   targets and scopes count
 */
export function service(
  planned: Planned,
  license: LicenseStatus,
  around: Surroundings,
  reload$: Observable<Planned> = EMPTY,
): Observable<never> {
  return defer(() => {
    const { config } = planned;
    const { settings } = config;
    const { log, unixMs } = around;
    const nowMs = () => performance.now();
    const waiter = new FutexWaiter();
    const memory = around.memory(waiter);
    const partitions = new PartitionSet(settings, memory, nowMs);
    const scopes = new ScopeRegistry();
    const assignment = settings.workerAssignmentMode;
    const registry = new TargetRegistry({
      ...{ assignment, unixMs, nowMs },
      partition: (number) => partitions.get(number),
    });
    const update = (next: Planned): Observable<never> => {
      scopes.update(next.config.scopes, next.plan);
      // Like the other settings of the process, `debug` stays what it was at the start.
      const isDebug = settings.debug;
      const definitions = next.plan.map(({ definition }) => ({ ...definition, isDebug }));
      return registry.update(definitions, partitionCount(settings, definitions.length));
    };
    const selfMetrics = new SelfMetrics(around.version);
    const sink = chooseSink(config, scopes, around, selfMetrics);
    const run$ = registry.run().pipe(tap(log), ignoreElements());
    const reloads$ = reload$.pipe(
      mergeMap((next) => {
        for (const key of changedSettings(settings, next.config.settings))
          log({ level: 'warning', message: `${key} changed: it takes effect at the next start` });
        const { plan, config: given } = next;
        const counts = `${plan.length} targets, ${given.scopes.length} scopes`;
        log({ level: 'info', message: `configuration reloaded: ${counts}` });
        return update(next);
      }),
    );
    const rebalance$ = interval(REBALANCE_MS).pipe(
      exhaustMap(() => registry.rebalance(MOST_MOVES, LEAST_LOAD)),
    );
    const license$ = watchLicense(license.license, () => loadLicense(settings.licenseFile)).pipe(
      tap((status) => {
        selfMetrics.license(status.expirySeconds);
        if (status.warning !== '') log({ level: 'warning', message: status.warning });
      }),
      ignoreElements(),
    );
    const sink$ = sink(registry).pipe(tap(teller(selfMetrics, log)), ignoreElements());
    // The sink's end is the service's end: the targets and the license watch have none.
    const ended$ = new Subject<void>();
    const keep$ = merge(
      ...[run$, update(planned), reloads$, license$],
      settings.workerRebalanceEnabled ? rebalance$ : EMPTY,
    ).pipe(takeUntil(ended$));
    const serve$ = sink$.pipe(
      finalize(() => {
        ended$.next();
      }),
    );
    return merge(keep$, serve$).pipe(
      finalize(() => {
        partitions.close();
        waiter.close();
      }),
    );
  });
}

function chooseSink(
  { settings }: Config,
  scopes: ScopeRegistry,
  { version, stdout, log }: Surroundings,
  selfMetrics: SelfMetrics,
): Sink {
  return settings.metricsHttpEnabled
    ? httpSink({
        address: settings.metricsBindAddress,
        port: settings.metricsPort,
        path: settings.metricsPath,
        formats: [TEXT, OPEN_METRICS],
        scope: (name) => scopes.get(name),
        scopeNames: (target) => scopes.namesFor(target),
        notReady: notReadyText,
        selfMetrics,
        version,
        log: (message) => {
          log({ level: 'warning', message });
        },
      })
    : stdoutSink({
        intervalSeconds: settings.metricsIntervalSeconds,
        document: settings.stdoutFormat === 'json' ? jsonDocument : textDocument,
        write: stdout(),
      });
}

/** Counts what the sink tells, and logs it where something changes. */
function teller(selfMetrics: SelfMetrics, log: Surroundings['log']) {
  let skipped = 0;
  return (event: SinkEvent): void => {
    selfMetrics.count(event);
    if (event.kind === 'opened') log({ level: 'info', message: `metrics at ${event.where}` });
    if (event.kind === 'skipped' && skipped++ === 0)
      log({ level: 'warning', message: 'the reader of stdout is too slow: skipping snapshots' });
    if (event.kind !== 'served' || skipped === 0) return;
    log({ level: 'info', message: `the reader of stdout is back: skipped ${skipped} snapshots` });
    skipped = 0;
  };
}
