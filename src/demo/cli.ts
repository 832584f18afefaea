#!/usr/bin/env node
// npm run demo: a simulated server, an evaluation license and the exporter, until Ctrl-C.
// `-- --stdout` shows the other sink, `-- --port N` listens elsewhere.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { messageOf } from '../errors.js';
import { issueLicense } from '../license/issue-license.js';

const SERVER_KEY = '82';
const DEFAULT_PORT = '9464';
const LICENSE_DAYS = 1;
/** How long a process may take to end before it is ended. */
const PATIENCE_MS = 5000;

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        stdout: { type: 'boolean', default: false },
        port: { type: 'string', default: DEFAULT_PORT },
      },
    });
    if (!/^[1-9]\d{0,4}$/.test(values.port) || Number(values.port) > 65_535)
      throw new RangeError(`Port ${values.port} is not one of 1 to 65535`);
    return values;
  } catch (error) {
    process.stderr.write(
      `demo: ${messageOf(error)}\nusage: npm run demo -- [--stdout] [--port N]\n`,
    );
    process.exit(2);
  }
}

const options = readOptions();
const isStdout = options.stdout;
const folder = mkdtempSync(join(tmpdir(), 'shm-demo-'));
const contextId = `demo${process.pid}`;
const children: ChildProcess[] = [];
let isEnding = false;

/** Starts one of our programs; when it ends, so does the demo. */
function start(program: string, args: readonly string[], onStderr: (text: string) => void): void {
  const path = fileURLToPath(new URL(`../${program}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], {
    // A group of its own: Ctrl-C reaches this process only, which then ends the others in order.
    detached: true,
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  children.push(child);
  child.stderr.on('data', (chunk: Buffer) => {
    onStderr(chunk.toString('utf8'));
  });
  child.on('exit', (code) => {
    end(code ?? 1);
  });
}

function end(code: number): void {
  if (isEnding) return;
  isEnding = true;
  const running = children.filter((child) => child.exitCode === null && child.signalCode === null);
  let left = running.length;
  const finish = () => {
    rmSync(folder, { recursive: true, force: true });
    process.exit(code);
  };
  if (left === 0) finish();
  for (const child of running) {
    child.once('exit', () => {
      if (--left === 0) finish();
    });
    child.kill('SIGTERM');
  }
  setTimeout(() => {
    for (const child of running) child.kill('SIGKILL');
    finish();
  }, PATIENCE_MS).unref();
}

const say = (text: string): void => {
  if (!isStdout) process.stdout.write(`${text}\n`);
};

function startExporter(): void {
  const now = Date.now();
  const license = join(folder, 'license.json');
  writeFileSync(
    license,
    issueLicense({
      licensee: 'demo',
      issuedAt: new Date(now - 60_000),
      expiresAt: new Date(now + LICENSE_DAYS * 86_400_000),
    }),
  );
  const config = join(folder, 'demo.toml');
  writeFileSync(
    config,
    [
      `context_id = "${contextId}"`,
      'app = "ads"',
      `server_keys = ["${SERVER_KEY}"]`,
      'metrics_bind_address = "127.0.0.1"',
      `metrics_port = ${options.port}`,
      'metrics_interval_seconds = 5',
      `license_file = ${JSON.stringify(license)}`,
      '',
    ].join('\n'),
  );
  const mode = isStdout ? [] : ['--enable-metrics-http'];
  let isTold = false;
  start('cli.js', ['--config', config, ...mode], (text) => {
    process.stderr.write(text);
    if (isTold || !text.includes(' ready: ')) return;
    isTold = true;
    const base = `http://127.0.0.1:${options.port}`;
    say('');
    say('The exporter serves a simulated ADS whose clients come and go. Try:');
    say(`  curl ${base}/metrics               the metrics of the server`);
    say(`  curl -s ${base}/metrics | grep ads_server_num_clients`);
    say(`  curl ${base}/-/metrics             the metrics of the exporter itself`);
    say(`  curl ${base}/-/ready               whether all targets are ready`);
    say(`  ${base}/                           a status page for people`);
    say('Ctrl-C ends it and leaves nothing behind.');
  });
}

process.on('SIGINT', () => {
  end(0);
});
process.on('SIGTERM', () => {
  end(0);
});
process.on('uncaughtException', (error) => {
  process.stderr.write(`demo: ${messageOf(error)}\n`);
  end(1);
});

const simulated = ['--app', 'ads', '--server-key', SERVER_KEY, '--root', 'demo-host.1.ads'];
let isPublished = false;
start(
  'simulator/cli.js',
  [...simulated, '--objects', '200', '--rate', '2', '--context-id', contextId],
  (text) => {
    if (isPublished || !text.includes('ready')) {
      process.stderr.write(text);
      return;
    }
    isPublished = true;
    startExporter();
  },
);
