#!/usr/bin/env node
// shm_bridge: runs the action of the command line and sets the exit status.
import '../stdio/process-streams.js';
import { hostname } from 'node:os';
import { asyncScheduler, map, merge } from 'rxjs';
import { packageVersion } from '../document/package-version.js';
import { loadBridgeConfig, onlyComponent, parseArguments } from './settings/configuration.js';
import type { BridgeConfig, BridgeInvocation } from './settings/configuration.js';
import { bridge, once } from './bridge.js';
import { LOG_MS, startDaemon } from '../stdio/daemon.js';
import { complain, explanationOf, fail, print, statusOf } from '../stdio/print.js';

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

const end = (error: unknown): never => fail(process, 'shm_bridge', error, explanationOf(error));

function run(config: BridgeConfig): void {
  const { outputs, log, manager } = startDaemon(process, config, config.warnings);
  const running = merge(bridge(config, AROUND), manager.watchdog()).subscribe({
    next: log,
    error: (error: unknown) => {
      outputs.stderr.line(`shm_bridge: ${explanationOf(error)}\n`);
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
    .subscribe({ error: end });
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
  end(error);
}
