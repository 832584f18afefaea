// The log, the outputs and the link to systemd of a program that runs until a signal.
import { isJournal, logger } from '../logs/log.js';
import type { LogFormat } from '../logs/log.js';
import type { LogLevel } from '../model.js';
import { startThreadPool } from '../native/os/futex-waiter.js';
import { sendDatagram } from '../native/os/libc.js';
import { ServiceManager } from '../systemd/service-manager.js';
import { StandardOutputs } from './output.js';

const STDERR = 2;

/** The time limit for writing the last log lines. */
export const LOG_MS = 1000;

interface DaemonSettings {
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** Makes the parts that all daemons have, and logs warnings from here on. @param warnings the first warnings */
export function startDaemon(
  program: NodeJS.Process,
  { logLevel: level, logFormat: format }: DaemonSettings,
  warnings: readonly string[],
) {
  const { env: environment, pid, hrtime } = program;
  startThreadPool(environment['UV_THREADPOOL_SIZE']);
  const outputs = new StandardOutputs(program);
  const log = logger((line) => outputs.stderr.line(line), {
    now: () => new Date(),
    level,
    format,
    isJournal: isJournal(STDERR, environment['JOURNAL_STREAM']),
  });
  const warn = (message: string): void => {
    log({ level: 'warning', message });
  };
  warnings.forEach(warn);
  // Log the warnings of Node.js here. Otherwise Node.js would print them, and would switch a shared pipe to
  // non-blocking writes.
  program.removeAllListeners('warning').on('warning', ({ message }) => {
    warn(message);
  });
  const manager = new ServiceManager({
    environment,
    pid,
    send: sendDatagram,
    monotonicUs: () => hrtime.bigint() / 1000n,
    warn,
  });
  return { outputs, log, warn, manager };
}
