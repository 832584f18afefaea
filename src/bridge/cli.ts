#!/usr/bin/env node
// shm_bridge: arguments in, exit status out.
import { hostname } from 'node:os';
import { asyncScheduler, merge } from 'rxjs';
import { packageVersion } from '../document/package-version.js';
import { onStdoutFailure } from '../document/text-file.js';
import { Fault, isSystemError, messageOf } from '../errors.js';
import { isJournal, logWriter, logger } from '../logs/log.js';
import { loadBridgeConfig, parseArguments, withComponent } from './settings/configuration.js';
import type { BridgeConfig, BridgeInvocation } from './settings/configuration.js';
import { bridge, once } from './bridge.js';
import { sendDatagram } from '../native/os/libc.js';
import { startThreadPool } from '../native/os/futex-waiter.js';
import { ServiceManager } from '../systemd/service-manager.js';

// Sets the umask to read it: process.umask() without an argument is deprecated.
const umask = process.umask(0o077);
process.umask(umask);

const AROUND = {
  pid: process.pid,
  segmentMode: 0o644 & ~umask,
  unixMs: () => Date.now(),
  steadyMs: () => performance.now(),
  scheduler: asyncScheduler,
};

const say = logWriter(process.stderr, process.stderr.fd);

function fail(error: unknown): never {
  // Other errors are bugs, and need the stack.
  const isExplained = error instanceof Fault || !(error instanceof Error) || isSystemError(error);
  say(`shm_bridge: ${isExplained ? messageOf(error) : (error.stack ?? '')}\n`);
  process.exit(error instanceof Fault ? error.exit : 1);
}

function run(config: BridgeConfig): void {
  startThreadPool(process.env['UV_THREADPOOL_SIZE']);
  const log = logger(say, {
    now: () => new Date(),
    level: config.logLevel,
    format: config.logFormat,
    isJournal: isJournal(process.stderr.fd, process.env['JOURNAL_STREAM']),
  });
  for (const message of config.warnings) log({ level: 'warning', message });
  const manager = new ServiceManager({
    environment: process.env,
    pid: process.pid,
    send: sendDatagram,
    monotonicUs: () => process.hrtime.bigint() / 1000n,
    warn: (message) => log({ level: 'warning', message }),
  });
  const running = merge(bridge(config, AROUND), manager.watchdog()).subscribe({
    next: log,
    // The teardown that closes the segments runs after this, and must precede the exit.
    error: (error: unknown) => {
      queueMicrotask(() => fail(error));
    },
  });
  manager.ready();
  // By default Node.js opens its debugger, to every program of the host.
  process.on('SIGUSR1', () => undefined);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(signal, () => {
      log({ level: 'info', message: `${signal}: ending` });
      manager.stopping();
      running.unsubscribe();
      process.exit(0);
    });
}

function pollOnce(config: BridgeConfig): void {
  for (const warning of config.warnings) say(`warning: ${warning}\n`);
  once(config, AROUND).subscribe({
    next: ({ text, remarks, isGood }) => {
      process.stdout.write(text);
      for (const remark of remarks) say(`${remark}\n`);
      if (!isGood) process.exitCode = 1;
    },
    error: fail,
  });
}

function main(): void {
  const invocation: BridgeInvocation = parseArguments(process.argv.slice(2), packageVersion());
  if (invocation.kind === 'print') {
    process.stdout.write(invocation.text);
    return;
  }
  const keys = { environment: process.env, userId: process.geteuid?.() };
  const { file, component } = invocation;
  const config = withComponent(loadBridgeConfig(file, keys, hostname()), component);
  if (invocation.kind === 'run') run({ ...config, ...invocation.log });
  else if (invocation.kind === 'once') pollOnce(config);
  else {
    for (const warning of config.warnings) process.stdout.write(`warning: ${warning}\n`);
    process.stdout.write('configuration is valid\n');
  }
}

onStdoutFailure(process.stdout, fail, () => process.exit());
try {
  main();
} catch (error) {
  fail(error);
}
