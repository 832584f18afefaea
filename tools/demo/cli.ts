#!/usr/bin/env node
// npm run demo: simulated servers, a bridge, a shop, an evaluation license and the exporter, until Ctrl-C. `-- --stdout`
// prints pages instead of serving them; `-- --port N` sets the exporter's port.
import '#app/stdio/process-streams.js';
import { fstatSync } from 'node:fs';
import { packageVersion } from '#app/document/package-version.js';
import { Fault, messageOf } from '#app/errors.js';
import { readCommandLine } from '#app/rules/command-line.js';
import { complain as complainNow, print } from '#app/stdio/print.js';
import { StandardOutputs } from '#app/stdio/output.js';
import { DemoFiles, INTERVAL_SECONDS } from './configuration.js';
import { EXPORTER, startProcesses } from './programs.js';
import { Children, Restarts, parentWatch } from './processes.js';
import type { Ended } from './processes.js';
import { bannerLines } from './banner.js';
import { PROGRAM } from './options.js';
import type { DemoOptions } from './options.js';

/** The time that a process has to end before the demo kills it; the exporter takes up to three seconds. */
const PATIENCE_MS = 4500;
const READY_WITHIN_MS = 60_000;
const PULSE_MS = 3000;
const RESTART_MS = 5000;
const MAX_RESTARTS_A_MINUTE = 5;
const PARENT_CHECK_MS = 500;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The time limit for printing the last lines. */
const LINES_MS = 200;

function run(options: DemoOptions): void {
  const outputs = new StandardOutputs(process, () => {
    end(0);
  });
  const complain = (text: string): void => void outputs.stderr.line(`${text}\n`);
  const say = (text: string): void => void outputs.stdout.line(`${text}\n`);
  // With --stdout, only the exporter's documents go to stdout.
  const report = options.isStdout ? complain : say;
  const files = new DemoFiles();
  process.once('exit', () => {
    files.remove();
  });
  const children = new Children(process.execPath, process.env);
  const restarts = new Restarts(MAX_RESTARTS_A_MINUTE, () => performance.now());
  let isEnding = false;
  let isReady = false;
  const end = (status: number): void => {
    if (isEnding) return;
    isEnding = true;
    void children.end(PATIENCE_MS).then(() => outputs.end(status, LINES_MS));
  };
  const fail = (reason: string, status = 1): void => {
    if (!isEnding) complain(`demo: ${reason}`);
    end(status);
  };
  for (const signal of SIGNALS)
    process.on(signal, () => {
      // A second signal skips the wait.
      if (isEnding) children.signal('SIGKILL');
      end(0);
    });
  process.on('uncaughtException', (error) => {
    fail(messageOf(error));
  });
  if (process.env['npm_lifecycle_event'] !== undefined) {
    const isOrphan = parentWatch(() => process.ppid);
    setInterval(() => {
      if (isOrphan()) end(0);
    }, PARENT_CHECK_MS).unref();
  }
  report(
    `Starting four simulated servers, a bridge, a shop and the exporter; their files are in ${files.folder}`,
  );
  const late = setTimeout(() => {
    fail(`not every target was ready within ${READY_WITHIN_MS / 1000} seconds`);
  }, READY_WITHIN_MS);
  startProcesses({
    options,
    children,
    files,
    pid: process.pid,
    unixMs: () => Date.now(),
    log: (line) => {
      if (!isEnding) complain(line);
    },
    onReady: () => {
      isReady = true;
      clearTimeout(late);
      if (options.isStdout)
        complain(`All targets are ready; their snapshots follow every ${INTERVAL_SECONDS} s`);
      else say(bannerLines(options.port).join('\n'));
      // Write an empty text at intervals: only a write detects that the reader has closed the pipe.
      if (!options.isStdout && isPipe(1)) setInterval(say, PULSE_MS, '');
    },
    onEnd: (name: string, { status, how }: Ended, again) => {
      if (again !== undefined && isReady && !isEnding && restarts.take()) {
        complain(`demo: ${name} ended ${how}; it starts again in ${RESTART_MS / 1000} seconds`);
        setTimeout(again, RESTART_MS);
        return;
      }
      // The exporter exits with 0 when the reader of its documents has closed the pipe.
      if (status === 0) end(0);
      else fail(`${name} ended ${how}${status === 4 ? hintOf(name) : ''}`, status);
    },
  });
}

/** The hint that another process may use the exporter's port, the most likely cause of a failure. */
const hintOf = (name: string): string =>
  name === EXPORTER ? '; if its port is taken, choose another: npm run demo -- --port N' : '';

const isPipe = (fd: number): boolean => {
  const stat = fstatSync(fd);
  return stat.isFIFO() || stat.isSocket();
};

try {
  const line = readCommandLine(PROGRAM, process.argv.slice(2), packageVersion());
  if (line.kind === 'text') print(line.text);
  else run(line.options);
} catch (error) {
  complainNow(`demo: ${messageOf(error)}\n`);
  process.exit(error instanceof Fault ? error.exit : 1);
}
