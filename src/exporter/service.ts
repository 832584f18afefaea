// Builds every part from the configuration and runs it: the only module that knows them all.
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
import { monotonicMs } from '../clock.js';
import { configHash } from '../config/changed-settings.js';
import { pluralize } from '../pluralize.js';
import { trustedKeys } from '../license/license-keys.js';
import { loadLicense, watchLicense } from '../license/license-watch.js';
import type { LicenseStatus } from '../license/license.js';
import type { TargetEvent } from '../model.js';
import { FutexWaiter } from '../native/os/futex-waiter.js';
import type { SharedMemory } from '../native/os/shared-memory.js';
import type { ReloadAnswer } from '../sinks/http/own-pages.js';
import { SelfMetrics } from '../sinks/self-metrics.js';
import type { DocumentWriter } from '../sinks/stdout/stdout.js';
import type { ServiceManager } from '../systemd/service-manager.js';
import { PartitionSet } from '../targets/hosting/partition-set.js';
import { partitionCount } from '../targets/placement.js';
import { TargetRegistry } from '../targets/target-registry.js';
import { lossWatch, sinkLog, statusLine, waitWatch } from './observers.js';
import type { Planned } from './plan.js';
import type { Reload } from './reloads.js';
import { ScopeRegistry } from './scopes.js';
import { ServiceMetrics } from './service-metrics.js';
import type { Build } from './service-metrics.js';
import { SINKS, chosenSink } from './sinks.js';

/** What the service needs from the process that it runs in. */
export interface Surroundings {
  readonly build: Build;
  /** Reads the configuration again. */
  readonly reload: () => ReloadAnswer;
  readonly memory: (waiter: FutexWaiter) => SharedMemory;
  /** Unix time in milliseconds. */
  readonly unixMs: () => number;
  readonly stdout: () => DocumentWriter;
  /** The most connections for which the limit of open files leaves room. */
  readonly maxConnections?: number | undefined;
  /** Descriptors of sockets that systemd opened. */
  readonly sockets: readonly number[];
  /** Whether it completes after one snapshot. */
  readonly isOnce: boolean;
  readonly manager: ServiceManager;
  readonly log: (event: TargetEvent) => void;
}

/** How often targets move to balance the load, how many at once, and from which load. */
const REBALANCE_MS = 30_000;
const MAX_MOVES = 8;
const LEAST_LOAD = 0.01;

/**
 * Runs while subscribed; completes when the reader of stdout is gone.
 * @param reload$ configurations that replace the one before; only their target and scope settings apply
 * @param sinks the first that the settings choose is opened
 */
export function service(
  planned: Planned,
  license: LicenseStatus,
  around: Surroundings,
  reload$: Observable<Reload> = EMPTY,
  sinks = SINKS,
): Observable<never> {
  return defer(() => {
    const { config } = planned;
    const { settings } = config;
    const { log, unixMs, manager } = around;
    const waiter = new FutexWaiter();
    const memory = around.memory(waiter);
    const partitions = new PartitionSet(settings, memory, monotonicMs);
    const scopes = new ScopeRegistry();
    const selfMetrics = new SelfMetrics();
    const metrics = new ServiceMetrics(selfMetrics, around.build, unixMs());
    const assignment = settings.workerAssignmentMode;
    const registry = new TargetRegistry({
      ...{ assignment, unixMs, nowMs: monotonicMs },
      partition: (number) => partitions.get(number),
    });
    const update = (next: Planned): Observable<never> => {
      scopes.update(next.config.scopes, next.plan);
      metrics.unmatchedScopes(scopes.unmatched);
      metrics.configTaken(configHash(next.config), unixMs());
      // Like the other settings of the process, `debug` keeps its value of the start.
      const isDebug = settings.debug;
      const definitions = next.plan.map(({ definition }) => ({ ...definition, isDebug }));
      return registry.update(definitions, partitionCount(settings, definitions.length));
    };
    const sink = chosenSink(sinks, {
      ...{ settings, scopes, selfMetrics, log, unixMs, nameOf: config.nameOf },
      service: () => metrics.facts,
      stdout: around.stdout,
      sockets: around.sockets,
      ...(around.maxConnections !== undefined && { maxConnections: around.maxConnections }),
      isOnce: around.isOnce,
      reload: around.reload,
    });
    const run$ = registry.run().pipe(tap(log), ignoreElements());
    const reloads$ = reload$.pipe(
      mergeMap((reload) => {
        if (reload.kind === 'refused') {
          metrics.configRefused(unixMs());
          return EMPTY;
        }
        const next = reload.planned;
        const { plan, config: given } = next;
        const counts = `${pluralize(plan.length, 'target')}, ${pluralize(given.scopes.length, 'scope')}`;
        log({ level: 'info', message: `configuration reloaded: ${counts}` });
        return update(next);
      }),
    );
    const rebalance$ = interval(REBALANCE_MS).pipe(
      exhaustMap(() => registry.rebalance(MAX_MOVES, LEAST_LOAD)),
    );
    const license$ = watchLicense(license.license, () =>
      loadLicense(settings.licenseFile, trustedKeys(settings.licenseKeysDir)),
    ).pipe(
      tap((status) => {
        metrics.license(status);
        if (status.warning === '') return;
        const message = `${config.nameOf(['license_file'])}: ${status.warning}`;
        log({ level: 'warning', message });
      }),
      ignoreElements(),
    );
    const watches$ = merge(lossWatch(registry), waitWatch(registry)).pipe(
      tap(log),
      ignoreElements(),
    );
    const news$ = manager.isListening
      ? merge(
          manager.watchdog(),
          statusLine(registry).pipe(
            tap((text) => manager.status(text)),
            ignoreElements(),
          ),
        )
      : EMPTY;
    const sink$ = sink(registry).pipe(
      tap(sinkLog(log)),
      tap(({ kind }) => {
        if (kind === 'opened') manager.ready();
      }),
      ignoreElements(),
    );
    // The service completes with the sink: the targets and the license watch never do.
    const ended$ = new Subject<void>();
    const keep$ = merge(
      ...[run$, update(planned), reloads$, license$, watches$, news$],
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
