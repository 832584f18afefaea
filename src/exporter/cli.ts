// shm_exporter: runs the action of the command line and sets the exit status.
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { Subscription } from 'rxjs';
import { parseArguments, withAbsolutePaths } from '../config/arguments.js';
import type { Arguments } from '../config/arguments.js';
import { NO_DISCOVERY } from '../config/file-rule.js';
import { loadConfig } from '../config/resolve.js';
import { buildRevision, packageVersion } from '../document/package-version.js';
import type { Fault } from '../errors.js';
import { posixMemory } from '../native/os/posix.js';
import { documentWriter } from '../sinks/stdout/stdout.js';
import { LOG_MS, startDaemon } from '../stdio/daemon.js';
import { complain, explanationOf, print, statusOf } from '../stdio/print.js';
import { activatedSockets } from '../systemd/service-manager.js';
import { Scheduler } from '../streams/scheduler.js';
import { finderOf, formatPollers } from '../targets/formats.js';
import { partitionCount } from '../targets/placement.js';
import { checkStart, leftOutLines } from './check-start.js';
import type { Start } from './check-start.js';
import { healthProblem } from './health.js';
import { connectionLimit, openFilesLimit } from './listeners.js';
import { Discovery } from './discovery.js';
import { discoveryLines, liveCheck } from './live/live-check.js';
import { isConfigured } from './plan.js';
import type { Planned } from './plan.js';
import { setProcessZone } from './process-zone.js';
import { reloads } from './reloads.js';
import { returnFreeMemory } from './service-metrics.js';
import { service } from './service.js';

type Accepted = Extract<Start, { kind: 'accepted' }>;

/** After a signal, the time limit for responses and documents in progress. */
const DRAIN_MS = 3000;
/** After a signal, the exit status is this number plus the number of the signal, as in a shell. */
const SIGNALLED = 128;

function fail(error: unknown): never {
  complain(`shm_exporter: ${explanationOf(error)}\n`);
  process.exit(statusOf(error));
}

/** Reports faults, and exits: by default with the status of the first fault. */
function refuse(faults: readonly Fault[], status: number = faults[0]?.exit ?? 1): never {
  for (const { message } of faults) complain(`shm_exporter: ${message}\n`);
  process.exit(status);
}

function run(relative: Arguments, isOnce: boolean): void {
  const given = withAbsolutePaths(relative);
  const start = checkStart(given, new Date(), process.env['TZ']);
  if (start.kind === 'refused') {
    start.warnings.forEach((warning) => complain(`warning: ${warning}\n`));
    refuse(start.faults);
  }
  const { planned, license, warnings } = start;
  const { settings } = planned.config;
  // Leave the working directory: if it were removed, threads could not start.
  process.chdir('/');
  const { outputs, log, warn, manager } = startDaemon(process, settings, [
    ...warnings,
    ...leftOutLines(planned),
  ]);
  const { discover } = planned.config;
  const discoverable = discover === NO_DISCOVERY ? 0 : discover.maxTargets;
  const most = planned.plan.length + discoverable;
  const { connections, warning } = connectionLimit(
    settings.httpMaxConnections,
    openFilesLimit(limitsOfProcess()),
    // Discovery keeps a file open for each target, too.
    most + discoverable,
    settings.workerExecutionMode === 'threaded' ? partitionCount(settings, most) : 0,
  );
  if (warning !== '' && settings.metricsHttpEnabled) warn(warning);
  const { reload, reload$ } = reloads(given, settings, log, manager);
  const running = new Subscription();
  const stop = (signal: NodeJS.Signals): void => {
    log({ level: 'info', message: `${signal}: ending` });
    manager.stopping();
    running.unsubscribe();
    // With --once, exit with the status of the signal, so that a script does not take an unfinished document for a
    // complete one.
    const status = isOnce ? SIGNALLED + constants.signals[signal] : 0;
    process.exitCode = status;
    setTimeout(() => {
      outputs.end(status, 0);
    }, DRAIN_MS).unref();
  };
  // Handle signals before subscribing, since the subscription starts most of the service at once.
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.on('SIGHUP', reload);
  const context = {
    build: {
      version: packageVersion(),
      revision: buildRevision(),
      node: process.versions.node,
    },
    reload,
    memory: posixMemory,
    unixMs: () => Date.now(),
    stdout: () => documentWriter(outputs.stdout),
    sockets: activatedSockets(process.env, process.pid),
    maxConnections: connections,
    isOnce,
    manager,
    log,
  };
  running.add(
    service(planned, license, context, reload$).subscribe({
      error: (error: unknown) => {
        log({ level: 'error', message: explanationOf(error) });
        outputs.end(statusOf(error), isOnce ? Infinity : LOG_MS);
      },
      // Exit only after all resources are released. A running futex call would delay the exit, and the release ends
      // the call.
      complete: () =>
        setImmediate(() => {
          outputs.end(0, isOnce ? Infinity : LOG_MS);
        }),
    }),
  );
}

/** The text of /proc/self/limits; empty if the file cannot be read. */
function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return '';
  }
}

function liveLines(planned: Planned): readonly string[] {
  const { config, plan } = planned;
  const parts = { memory: posixMemory(), ...config.settings };
  const formats = formatPollers(parts);
  const pollerOf: Parameters<typeof liveCheck>[1] = (serverKey, { format, formatSettings }) => {
    const pollers = formats.get(format);
    if (pollers === undefined) throw new Error(`There is no format ${format}`);
    return pollers(formatSettings)(serverKey);
  };
  const discovery = new Discovery({
    finder: (format, discover) => finderOf(format, parts, discover),
    targets: () => [],
    tasks: new Scheduler(),
  });
  const { lines, targets } = liveCheck(planned, pollerOf);
  const found = discovery.once(config.discover, (target) => isConfigured(plan, targets, target));
  return [
    ...lines,
    ...(config.discover === NO_DISCOVERY ? [] : discoveryLines(found, config.discover.labelsFrom)),
  ].map((line) => `${line}\n`);
}

const licenseWarnings = ({ planned, license }: Accepted): readonly string[] =>
  license.warning === '' ? [] : [`${planned.config.subject(['license_file'])}: ${license.warning}`];

/** The exit status of a check if a start would succeed, but would leave out files of `targets.d`. */
const FILES_LEFT_OUT = 7;

/** Prints the warnings that a start would print, and the faults of all files. */
function check(given: Arguments, isLive: boolean): void {
  const start = checkStart(given, new Date(), process.env['TZ']);
  const warnings = [
    ...start.warnings,
    ...(start.kind === 'accepted' ? licenseWarnings(start) : []),
  ].map((warning) => `warning: ${warning}\n`);
  const { planned } = start;
  const live = isLive && planned !== undefined ? liveLines(planned) : [];
  const leftOut = [...(planned?.leftOut.values() ?? [])];
  const isValid = start.kind === 'accepted' && leftOut.length === 0;
  print(`${live.join('')}${warnings.join('')}${isValid ? 'configuration is valid\n' : ''}`);
  if (start.kind === 'refused') refuse(start.faults);
  if (leftOut.length > 0) refuse(leftOut, FILES_LEFT_OUT);
}

/** Prints whether the exporter that runs with a configuration is healthy. Sets the exit status to 0 or 1. */
async function checkHealth(given: Arguments): Promise<void> {
  const problem = await healthProblem(loadConfig(given), Date.now());
  if (problem === '') {
    print('healthy\n');
    return;
  }
  complain(`shm_exporter: ${problem}\n`);
  process.exitCode = 1;
}

function main(): void {
  setProcessZone(process.env);
  const invocation = parseArguments(process.argv.slice(2), packageVersion());
  if (invocation.kind === 'print') print(invocation.text);
  else if (invocation.kind === 'check') check(invocation.arguments, invocation.isLive);
  else if (invocation.kind === 'health') checkHealth(invocation.arguments).catch(fail);
  else {
    returnFreeMemory(() => process.memoryUsage.rss());
    run(invocation.arguments, invocation.isOnce);
  }
}

try {
  main();
} catch (error) {
  fail(error);
}
