// Starts the programs of the demo: simulated servers, the bridge to one of them, then the exporter.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { issueLicense } from '#app/license/issue-license.js';
import { map } from '#app/native/os/libc.js';
import { BRIDGED, EXPORTED, TARGETS, bridgeConfiguration, configuration } from './configuration.js';
import type { DemoFiles, DemoTarget } from './configuration.js';
import type { DemoOptions } from './options.js';
import { TargetReports } from './processes.js';
import type { Children, Ended } from './processes.js';

/** The counters of an OpenJDK 17 after some garbage collections, without personal data. */
const RECORDING = new URL('recorded.hsperfdata.gz', import.meta.url);
/** The size of a JVM's counter file. The recording has only the used part of the file. */
const FILE_BYTES = 32_768;
/** The byte offset of `sun.rt.createVmBeginTime` in the recording. The value is in Unix milliseconds. */
const BEGAN_AT = 472;

/**
 * Writes the recording as the counter file of a JVM with this process id and start time. This process maps
 * the file, as a JVM does.
 * @param pid the id of this process
 * @returns the directory of the file
 */
function recordedJvm(folder: string, pid: number, unixMs: number): string {
  const directory = join(folder, 'hsperfdata_recorded');
  const bytes = Buffer.alloc(FILE_BYTES);
  gunzipSync(readFileSync(RECORDING)).copy(bytes);
  bytes.writeBigInt64LE(BigInt(Math.round(unixMs)), BEGAN_AT);
  mkdirSync(directory, { mode: 0o755 });
  const path = join(directory, String(pid));
  writeFileSync(path, bytes, { mode: 0o600 });
  const fd = openSync(path, 'r');
  map(fd, FILE_BYTES, 'read');
  closeSync(fd);
  return directory;
}

/** The metric files of four workers of the shop, of prometheus_client 0.21.1: the used bytes of each in base64. */
const RECORDED_SHOP = new URL('recorded-shop.json.gz', import.meta.url);
const SHOP_FILE_BYTES = 65_536;

/** Writes the metric files of the shop as its workers left them. */
function writeRecordedShop(directory: string): void {
  const text = gunzipSync(readFileSync(RECORDED_SHOP)).toString();
  const files = JSON.parse(text) as Readonly<Record<string, string>>;
  for (const [name, used] of Object.entries(files)) {
    const bytes = Buffer.alloc(SHOP_FILE_BYTES);
    Buffer.from(used, 'base64').copy(bytes);
    writeFileSync(join(directory, name), bytes, { mode: 0o644 });
  }
}

/** Whether Python has what the shop needs. */
const hasGunicorn = (): boolean =>
  spawnSync('python3', ['-c', 'import gunicorn, prometheus_client']).status === 0;

const DAY_MS = 86_400_000;
export const EXPORTER = 'the exporter';
/** Matches the directories in which JVMs keep their counters. Each user has one directory. */
const HOST_JVMS = '/tmp/hsperfdata_*';
/** The size of a simulated tree, with enough changes for two scrapes to differ. */
const TREE_OPTIONS = ['--objects', '200', '--rate', '2', '--change-fraction', '0.5'];

interface ProcessParts {
  readonly options: DemoOptions;
  readonly children: Children;
  readonly files: DemoFiles;
  /** The id of this process. */
  readonly pid: number;
  readonly unixMs: () => number;
  /** Called with each log line that the user of the demo should see. */
  readonly log: (line: string) => void;
  /** Called once, when the exporter serves all targets. */
  readonly onReady: () => void;
  /** Called when a process has ended. `again` restarts the process; undefined if a restart is impossible. */
  readonly onEnd: (name: string, ended: Ended, again?: () => void) => void;
}

/** Starts the simulated servers, the bridge to one of them, and the shop. Starts the exporter once they are all ready. */
export function startProcesses(parts: ProcessParts): void {
  // The bridge is ready once it has published the tree of its server.
  let missing: number = TARGETS.length + 2;
  const onReady = () => {
    if (--missing === 0) startExporter(parts);
  };
  for (const target of TARGETS) startSimulator(parts, target, onReady);
  startComponent(parts, '0', (url) => {
    startBridge(parts, url, onReady);
  });
  mkdirSync(shopDirectoryOf(parts), { mode: 0o755 });
  if (hasGunicorn()) startShop(parts, onReady);
  else {
    writeRecordedShop(shopDirectoryOf(parts));
    onReady();
  }
}

const shopDirectoryOf = ({ files }: Pick<ProcessParts, 'files'>): string =>
  join(files.folder, 'shop-metrics');

function startShop(parts: ProcessParts, onReady: () => void): void {
  const { children, files, log, onEnd } = parts;
  children.start({
    program: 'demo/shop/cli.js',
    args: [files.folder],
    env: { PROMETHEUS_MULTIPROC_DIR: shopDirectoryOf(parts) },
    onLine: (line) => {
      if (line === 'ready') onReady();
      else log(line);
    },
    onEnd: (ended) => {
      onEnd('the shop', ended, () => {
        startShop(parts, () => undefined);
      });
    },
  });
}

function startSimulator(parts: ProcessParts, target: DemoTarget, onReady: () => void): void {
  const { children, files, log, onEnd } = parts;
  const { app, serverKey, root } = target;
  children.start({
    program: 'bin/shm_simulator.js',
    args: [
      ...['--app', app, '--server-key', serverKey, '--root', root],
      ...['--context-id', files.contextId, ...TREE_OPTIONS],
    ],
    onLine: (line) => {
      if (line === 'ready') onReady();
      else log(line);
    },
    onEnd: (ended) => {
      onEnd(`the simulated ${app}`, ended, () => {
        startSimulator(parts, target, () => undefined);
      });
    },
  });
}

/**
 * Starts a server that shows its tree over HTTP, for the bridge.
 * @param port the port of the server; 0 for any free port
 * @param onUrl called with the address of the server
 */
function startComponent(parts: ProcessParts, port: string, onUrl: (url: string) => void): void {
  const { children, files, log, onEnd } = parts;
  let ownPort = port;
  children.start({
    program: 'bin/shm_simulator.js',
    args: [
      ...['--app', BRIDGED.app, '--root', BRIDGED.root, '--json-port', port],
      ...['--context-id', files.contextId, ...TREE_OPTIONS],
    ],
    onLine: (line) => {
      const [, url] = /^serving (\S+)$/.exec(line) ?? [];
      if (url !== undefined) {
        ownPort = new URL(url).port;
        onUrl(url);
      } else if (line !== 'ready') log(line);
    },
    onEnd: (ended) => {
      onEnd(`the simulated ${BRIDGED.app} behind the bridge`, ended, () => {
        // Keep the port, since the bridge polls it.
        startComponent(parts, ownPort, () => undefined);
      });
    },
  });
}

function startBridge(
  { children, files, log, onEnd }: ProcessParts,
  url: string,
  onReady: () => void,
): void {
  const { contextId } = files;
  const file = files.write('bridge.toml', bridgeConfiguration(contextId, url));
  let isReady = false;
  children.start({
    program: 'bin/shm_bridge.js',
    args: ['--config', file],
    onLine: (line) => {
      if (!isReady && line.includes(': received its tree')) {
        isReady = true;
        onReady();
      }
      if (!/^\S+ info /.test(line)) log(line);
    },
    onEnd: (ended) => {
      onEnd('the bridge', ended);
    },
  });
}

function startExporter({ children, onEnd, ...parts }: ProcessParts): void {
  const waiting = new Set(EXPORTED.map(nameOf));
  const reports = new TargetReports();
  children.start({
    program: 'bin/shm_exporter.js',
    args: ['--config', writeConfiguration(parts)],
    onLine: (line) => {
      const [, target = ''] = / info target (\S+ on \S+) ready: /.exec(line) ?? [];
      if (waiting.delete(target) && waiting.size === 0) parts.onReady();
      const text = waiting.size === 0 ? reports.of(line) : undefined;
      if (text !== undefined) parts.log(text);
      else if (!/^\S+ info /.test(line)) parts.log(line);
    },
    onEnd: (ended) => {
      onEnd(EXPORTER, ended);
    },
  });
}

/** The name of a target in the exporter's log. */
const nameOf = ({ app, serverKey }: Pick<DemoTarget, 'app' | 'serverKey'>): string =>
  `${app} on ${serverKey}`;

/** Writes the license and the configuration; returns the path of the configuration. */
function writeConfiguration({
  options,
  files,
  pid,
  unixMs,
}: Pick<ProcessParts, 'options' | 'files' | 'pid' | 'unixMs'>): string {
  const now = unixMs();
  const license = issueLicense({
    licensee: 'demo',
    // A little before now, in case the clock is set back.
    issuedAt: new Date(now - 60_000),
    expiresAt: new Date(now + DAY_MS),
  });
  const { contextId } = files;
  const licenseFile = files.write('license.json', license);
  const jvmDirectories = [HOST_JVMS, recordedJvm(files.folder, pid, now)];
  const shopDirectory = shopDirectoryOf({ files });
  const places = { contextId, licenseFile, jvmDirectories, shopDirectory, ...options };
  return files.write('demo.toml', configuration(places));
}
