#!/usr/bin/env node
// shm_exporter: arguments in, exit status out.
import { readFileSync } from 'node:fs';
import { Subscription } from 'rxjs';
import { parseArguments } from './config/arguments.js';
import { loadConfig } from './config/resolve.js';
import type { Config } from './config/resolve.js';
import { Fault, messageOf } from './errors.js';
import { readLicense } from './license/license-file.js';
import { logger } from './log.js';
import { posixMemory } from './native/posix.js';
import { notYet } from './not-yet.js';
import { scopeWarnings } from './scope-warnings.js';
import { planTargets, service } from './service.js';
import { pipeWriter } from './sinks/pipe-writer.js';

/** Running responses may take this long after a signal. */
const DRAIN_MS = 5000;

const version = (): string => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
};

function fail(error: unknown): never {
  const isOurs = error instanceof Fault;
  const text = isOurs || !(error instanceof Error) ? messageOf(error) : (error.stack ?? '');
  process.stderr.write(`shm_exporter: ${text}\n`);
  process.exit(isOurs ? error.exit : 1);
}

function run(config: Config): void {
  const { settings, warnings } = config;
  const log = logger(
    (line) => process.stderr.write(line),
    () => new Date(),
    settings.debug,
  );
  const plan = planTargets(config);
  for (const message of [...warnings, ...notYet(config), ...scopeWarnings(config, plan)])
    log({ level: 'warning', message });
  const license = readLicense(settings.licenseFile, new Date());
  const running = new Subscription();
  const stop = (signal: NodeJS.Signals): void => {
    log({ level: 'info', message: `${signal}: ending` });
    running.unsubscribe();
    process.exitCode = 0;
    setTimeout(() => process.exit(0), DRAIN_MS).unref();
  };
  // Before the start: much of it happens while the service is being subscribed to.
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  running.add(
    service(config, plan, license, {
      version: version(),
      memory: posixMemory,
      unixMs: () => Date.now(),
      stdout: () => pipeWriter(1),
      log,
    }).subscribe({
      error: fail,
      complete: () => process.exit(0),
    }),
  );
}

function main(): void {
  const invocation = parseArguments(process.argv.slice(2), version());
  if (invocation.kind === 'print') {
    process.stdout.write(invocation.text);
    return;
  }
  const config = loadConfig(invocation.arguments);
  if (invocation.kind === 'run') {
    run(config);
    return;
  }
  const plan = planTargets(config);
  const warnings = [...config.warnings, ...notYet(config), ...scopeWarnings(config, plan)]
    .map((warning) => `warning: ${warning}\n`)
    .join('');
  process.stdout.write(`${warnings}configuration is valid\n`);
}

try {
  main();
} catch (error) {
  fail(error);
}
