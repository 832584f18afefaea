#!/usr/bin/env node
// shm_bridge: runs the action of the command line and sets the exit status.
import '../stdio/process-streams.js';
import { hostname } from 'node:os';
import { asyncScheduler, map, merge } from 'rxjs';
import { packageVersion } from '../document/package-version.js';
import { Fault, isSystemError, messageOf } from '../errors.js';
import { isJournal, logger } from '../logs/log.js';
import { loadBridgeConfig, onlyComponent, parseArguments } from './settings/configuration.js';
import type { BridgeConfig, BridgeInvocation } from './settings/configuration.js';
import { bridge, once } from './bridge.js';
import { sendDatagram } from '../native/os/libc.js';
import { startThreadPool } from '../native/os/futex-waiter.js';
import { BrokenPipe, NotWritten, complain, print } from '../stdio/print.js';
import { StandardOutputs } from '../stdio/standard-outputs.js';
import { ServiceManager } from '../systemd/service-manager.js';

// Read the umask by setting it: process.umask() without an argument is deprecated.
const umask = process.umask(0o077);
process.umask(umask);

const AROUND = {
  pid: process.pid,
  segmentMode: 0o644 & ~umask,
  unixMs: () => Date.now(),
  steadyMs: () => performance.now(),
  scheduler: asyncScheduler,
};

const STDERR = 2;
/** The time limit for writing the last log lines. */
const LOG_MS = 1000;

/** The sentence that explains the end of the process. */
function explanationOf(error: unknown): string {
  // These errors have a known cause. Any other error is a bug, so show its stack.
  const isExplained =
    [Fault, NotWritten].some((kind) => error instanceof kind) ||
    !(error instanceof Error) ||
    isSystemError(error);
  return `shm_bridge: ${isExplained ? messageOf(error) : (error.stack ?? '')}\n`;
}

const statusOf = (error: unknown): number => (error instanceof Fault ? error.exit : 1);

function fail(error: unknown): never {
  // The reader of the pipe may close it early, as `head` does.
  if (error instanceof BrokenPipe) process.exit(0);
  complain(explanationOf(error));
  process.exit(statusOf(error));
}

function run(config: BridgeConfig): void {
  startThreadPool(process.env['UV_THREADPOOL_SIZE']);
  const outputs = new StandardOutputs(process);
  const log = logger((line) => outputs.stderr.line(line), {
    now: () => new Date(),
    level: config.logLevel,
    format: config.logFormat,
    isJournal: isJournal(STDERR, process.env['JOURNAL_STREAM']),
  });
  const warn = (message: string): void => {
    log({ level: 'warning', message });
  };
  config.warnings.forEach(warn);
  // Log the warnings of Node.js here. Otherwise Node.js would print them, and would switch a shared pipe to
  // non-blocking writes.
  process.removeAllListeners('warning').on('warning', ({ message }) => {
    warn(message);
  });
  const manager = new ServiceManager({
    environment: process.env,
    pid: process.pid,
    send: sendDatagram,
    monotonicUs: () => process.hrtime.bigint() / 1000n,
    warn,
  });
  const running = merge(bridge(config, AROUND), manager.watchdog()).subscribe({
    next: log,
    error: (error: unknown) => {
      outputs.stderr.line(explanationOf(error));
      outputs.end(statusOf(error), LOG_MS);
    },
  });
  manager.ready();
  // By default, SIGUSR1 would open the debugger of Node.js, to which each program of the host could connect.
  process.on('SIGUSR1', () => undefined);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(signal, () => {
      log({ level: 'info', message: `${signal}: ending` });
      manager.stopping();
      running.unsubscribe();
      outputs.end(0, LOG_MS);
    });
}

function pollOnce(config: BridgeConfig): void {
  for (const warning of config.warnings) complain(`warning: ${warning}\n`);
  once(config, AROUND)
    .pipe(
      map(({ text, remarks, isGood }) => {
        print(text);
        for (const remark of remarks) complain(`${remark}\n`);
        if (!isGood) process.exitCode = 1;
      }),
    )
    .subscribe({ error: fail });
}

function main(): void {
  const invocation: BridgeInvocation = parseArguments(process.argv.slice(2), packageVersion());
  if (invocation.kind === 'print') {
    print(invocation.text);
    return;
  }
  const keys = { environment: process.env, userId: process.geteuid?.() };
  const { file, component } = invocation;
  const config = onlyComponent(loadBridgeConfig(file, keys, hostname()), component);
  if (invocation.kind === 'run') run({ ...config, ...invocation.log });
  else if (invocation.kind === 'once') pollOnce(config);
  else {
    for (const warning of config.warnings) print(`warning: ${warning}\n`);
    print('configuration is valid\n');
  }
}

try {
  main();
} catch (error) {
  fail(error);
}
