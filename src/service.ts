// Builds every part from the configuration and runs it: the only place that knows them all.
import { performance } from 'node:perf_hooks';
import { Subject, defer, finalize, ignoreElements, merge, takeUntil, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { loadCatalogues } from './catalogue/builtin.js';
import type { Catalogue } from './catalogue/catalogue.js';
import { compileFilters } from './catalogue/filters.js';
import type { Filters } from './catalogue/filters.js';
import { keyPath } from './config/key-path.js';
import type { Config } from './config/resolve.js';
import { Kernel } from './exposition/kernel/kernel.js';
import { notReadyText } from './exposition/not-ready-text.js';
import { OPEN_METRICS } from './exposition/open-metrics.js';
import { compileScope } from './exposition/scope.js';
import { jsonDocument, textDocument } from './exposition/stdout-document.js';
import { TEXT } from './exposition/text-format.js';
import { loadLicense } from './license/license-file.js';
import type { LicenseStatus } from './license/license-status.js';
import { watchLicense } from './license/license-watch.js';
import type { TargetEvent } from './model.js';
import { FutexWaiter } from './native/futex-waiter.js';
import type { SharedMemory } from './native/shared-memory.js';
import { ServedTarget } from './served-target.js';
import { httpSink } from './sinks/http.js';
import { SelfMetrics } from './sinks/self-metrics.js';
import type { Sink, SinkEvent } from './sinks/sink.js';
import { stdoutSink } from './sinks/stdout.js';
import type { PageWriter } from './sinks/stdout.js';
import { Partition } from './streams/partition.js';
import { ServerPool } from './streams/server-pool.js';

/** What the service needs from the process that it runs in. */
export interface Surroundings {
  readonly version: string;
  readonly memory: SharedMemory;
  /** Unix time in milliseconds. */
  readonly unixMs: () => number;
  readonly stdout: () => PageWriter;
  readonly log: (event: TargetEvent) => void;
}

/** The catalogue and the compiled filters of each target, in order. */
export type Plan = readonly {
  readonly catalogue: Catalogue | undefined;
  readonly filters: Filters;
}[];

/**
 * Checks what the configuration says of applications, classes and groups.
 * @throws Fault CONFIG_INVALID
 */
export function planTargets({ settings, targets }: Config): Plan {
  const catalogues = loadCatalogues(settings.catalogueFiles);
  return targets.map((target) => {
    const catalogue = catalogues.get(target.app);
    return { catalogue, filters: compileFilters(catalogue, target, keyPath(target.path)) };
  });
}

/** Most partitions, whatever is configured (spec 8). */
const MOST_PARTITIONS = 64;

/** Runs while it is subscribed to; completes when stdout has no reader any more. */
export function service(
  config: Config,
  plan: Plan,
  license: LicenseStatus,
  around: Surroundings,
): Observable<never> {
  return defer(() => {
    const { settings } = config;
    const { log } = around;
    const nowMs = () => performance.now();
    const waiter = new FutexWaiter();
    const pool = new ServerPool({ ...settings, memory: around.memory, waiter, nowMs });
    const partitions = makePartitions(settings.targetWorkers, config.targets.length);
    const targets = config.targets.map((target, index) => {
      const { partition, kernel } = partitions[index % partitions.length] ?? newPartition(0);
      const { catalogue, filters } = plan[index] ?? {};
      return new ServedTarget({
        ...target,
        catalogue,
        filters: filters ?? compileFilters(catalogue, target),
        pool,
        partition,
        kernel,
        spacingMs: settings.renderMinIntervalMs,
        unixMs: around.unixMs,
        nowMs,
        isDebug: settings.debug,
      });
    });
    const selfMetrics = new SelfMetrics(around.version);
    const sink = chooseSink(config, around, selfMetrics);
    const run$ = merge(...targets.map((target) => target.run())).pipe(tap(log), ignoreElements());
    const license$ = watchLicense(license.license, () => loadLicense(settings.licenseFile)).pipe(
      tap((status) => {
        selfMetrics.license(status.expirySeconds);
        if (status.warning !== '') log({ level: 'warning', message: status.warning });
      }),
      ignoreElements(),
    );
    const sink$ = sink(targets).pipe(tap(teller(selfMetrics, log)), ignoreElements());
    // The sink's end is the service's end: the targets and the license watch have none.
    const ended$ = new Subject<void>();
    const keep$ = merge(run$, license$).pipe(takeUntil(ended$));
    const serve$ = sink$.pipe(
      finalize(() => {
        ended$.next();
      }),
    );
    return merge(keep$, serve$).pipe(
      finalize(() => {
        waiter.close();
      }),
    );
  });
}

function chooseSink(
  { settings, scopes }: Config,
  { version, stdout, log }: Surroundings,
  selfMetrics: SelfMetrics,
): Sink {
  const compiled = new Map(scopes.map((scope) => [scope.name, compileScope(scope)]));
  return settings.metricsHttpEnabled
    ? httpSink({
        address: settings.metricsBindAddress,
        port: settings.metricsPort,
        path: settings.metricsPath,
        formats: [TEXT, OPEN_METRICS],
        scope: (name) => compiled.get(name),
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

const newPartition = (number: number) => ({
  partition: new Partition(number),
  kernel: new Kernel(),
});

/** As many as configured; 0 means one for each target, within the cap. */
function makePartitions(configured: number, targets: number) {
  const wanted = configured > 0 ? configured : targets;
  const count = Math.max(1, Math.min(wanted, targets, MOST_PARTITIONS));
  return Array.from({ length: count }, (_, number) => newPartition(number));
}
