// Composes all parts of the service from the configuration, and runs them.
import {
  EMPTY,
  Subject,
  connect,
  defer,
  exhaustMap,
  filter,
  finalize,
  ignoreElements,
  interval,
  map,
  merge,
  mergeAll,
  startWith,
  switchMap,
  takeUntil,
  tap,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { monotonicMs } from '../clock.js';
import { NO_DISCOVERY } from '../config/file-rule.js';
import { configHash } from '../config/resolve.js';
import { memoize } from '../exposition/memoize.js';
import { pluralize } from '../pluralize.js';
import { trustedKeys } from '../license/license-keys.js';
import { loadLicense, watchLicense } from '../license/license-watch.js';
import type { LicenseStatus } from '../license/license.js';
import { FutexWaiter } from '../native/os/futex-waiter.js';
import type { SharedMemory } from '../native/os/shared-memory.js';
import { Scheduler } from '../streams/scheduler.js';
import { SelfMetrics } from '../sinks/self-metrics.js';
import type { ServiceManager } from '../systemd/service-manager.js';
import { finderOf } from '../targets/formats.js';
import { internalMetadata, pageLevel, pageMetadata } from '../targets/internal-metrics.js';
import { PartitionSet } from '../targets/partitions/partition-set.js';
import { partitionCount } from '../targets/placement.js';
import { TargetRegistry } from '../targets/target-registry.js';
import { Discovery } from './discovery.js';
import {
  discoveryLog,
  sinkLog,
  statusLine,
  watchLosses,
  watchReadiness,
  watchRefusals,
} from './observers.js';
import { discoveryPlanner, isConfigured, targetLabels } from './plan.js';
import type { Planned, PlannedTarget } from './plan.js';
import type { Reload } from './reloads.js';
import { ScopeRegistry } from './scopes.js';
import { serviceMetrics } from './service-metrics.js';
import type { Build } from './service-metrics.js';
import { SINKS, chosenSink } from './sinks.js';
import type { SinkProcess } from './sinks.js';

export interface ProcessContext extends SinkProcess {
  readonly build: Build;
  readonly memory: (waiter: FutexWaiter) => SharedMemory;
  readonly manager: ServiceManager;
}

const REBALANCE_MS = 30_000;
/** The maximum number of targets that one rebalance pass moves. */
const MAX_MOVES = 8;
/** A partition with a smaller load keeps its targets. */
const MIN_LOAD = 0.01;

/**
 * Runs the service while subscribed. Completes when the reader of stdout closes the pipe.
 * @param reload$ emits new configurations, whose targets and scopes replace the current ones
 * @param sinks the table of sinks; the service opens the first sink that the settings choose
 */
export function service(
  planned: Planned,
  license: LicenseStatus,
  context: ProcessContext,
  reload$: Observable<Reload> = EMPTY,
  sinks = SINKS,
): Observable<never> {
  return defer(() => {
    const { config } = planned;
    const { settings } = config;
    const { log, unixMs, manager } = context;
    const waiter = new FutexWaiter();
    const memory = context.memory(waiter);
    const partitions = new PartitionSet(settings, memory, monotonicMs);
    const { internalMetrics: level } = settings;
    const scopes = new ScopeRegistry(pageMetadata(pageLevel(settings)));
    const selfMetrics = new SelfMetrics(internalMetadata(level), level);
    const metrics = serviceMetrics(selfMetrics, context.build, unixMs());
    const assignment = settings.workerAssignmentMode;
    const registry = new TargetRegistry({
      ...{ assignment, unixMs, nowMs: monotonicMs, pageLevel: pageLevel(settings) },
      partition: (number) => partitions.get(number),
    });
    const tasks = new Scheduler();
    const formatParts = { ...settings, memory };
    const discovery = new Discovery({
      finder: (format, discover) => finderOf(format, formatParts, discover),
      targets: () => registry.targets,
      tasks,
    });
    let hasHostPage = config.hostPage.enabled;
    let hasDiscovered = false;
    const logDiscovered = discoveryLog(log);
    /** Updates the targets to a configuration, and again whenever discovery finds other targets. */
    const updates = (next: Planned): Observable<Observable<never>> => {
      const { config: given, plan } = next;
      const planFound = memoize(discoveryPlanner(given));
      // Like other settings of the process, `debug` and the output take effect only at a start.
      const ofStart = {
        isDebug: settings.debug,
        targetLabels: targetLabels(given.hostPage, settings),
      };
      // The same object at each update, so that the registry sees that nothing has changed.
      const definitionOf = memoize(({ definition }: PlannedTarget) => ({
        ...definition,
        ...ofStart,
      }));
      return discovery
        .watch(given.discover, (found) => isConfigured(plan, registry.targets, found))
        .pipe(
          map((found) => {
            // After a reload without [discover], the gauges become 0.
            hasDiscovered ||= given.discover !== NO_DISCOVERY;
            if (hasDiscovered) metrics.discovered(found);
            logDiscovered(found);
            const all = [...plan, ...found.targets.map(planFound)];
            scopes.update(given.scopes, all);
            metrics.unmatchedScopes(scopes.unmatched);
            registry.isDiscovering = !found.isComplete;
            return registry.update(all.map(definitionOf), partitionCount(settings, all.length));
          }),
        );
    };
    const sink = chosenSink(sinks, {
      ...context,
      ...{ settings, scopes, selfMetrics, nameOf: config.nameOf },
      hasHostPage: () => hasHostPage,
      service: metrics.processInfo,
    });
    const run$ = registry.run().pipe(tap(log), ignoreElements());
    const accepted$ = reload$.pipe(
      filter((reload) => {
        if (reload.kind === 'refused') metrics.configRefused(unixMs());
        return reload.kind === 'accepted';
      }),
      map(({ planned: next }) => {
        const { plan, config: given } = next;
        const counts = `${pluralize(plan.length, 'target')}, ${pluralize(given.scopes.length, 'scope')}`;
        log({ level: 'info', message: `configuration reloaded: ${counts}` });
        return next;
      }),
    );
    const updates$ = accepted$.pipe(
      startWith(planned),
      tap(({ config: given, leftOut }) => {
        metrics.faultyTargetFiles([...leftOut.keys()]);
        hasHostPage = given.hostPage.enabled;
        metrics.configAccepted(configHash(given), unixMs());
      }),
      switchMap(updates),
      // A later configuration does not cancel changes of targets that are in progress.
      mergeAll(),
    );
    const rebalance$ = interval(REBALANCE_MS).pipe(
      exhaustMap(() => registry.rebalance(MAX_MOVES, MIN_LOAD)),
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
    const watches$ = merge(watchLosses(registry), watchReadiness(registry)).pipe(
      tap(log),
      ignoreElements(),
    );
    const notification$ = manager.isListening
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
      connect((event$) => watchRefusals(event$)),
      tap(log),
      ignoreElements(),
    );
    // The streams of the targets and of the license never complete. They end with the sink.
    const ended$ = new Subject<void>();
    const keep$ = merge(
      ...[run$, updates$, license$, watches$, notification$],
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
