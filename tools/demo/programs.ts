// The processes of the demo: simulated servers, the bridge to one of them, and then the exporter.
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { issueLicense } from '#app/license/issue-license.js';
import { map } from '#app/native/os/libc.js';
import { BRIDGED, EXPORTED, TARGETS, bridgeConfiguration, configuration } from './configuration.js';
import type { Belongings, DemoTarget } from './configuration.js';
import type { DemoOptions } from './options.js';
import { ExporterNews } from './processes.js';
import type { Children, Ended } from './processes.js';

/** An OpenJDK 17 whose heap was collected some times; what was personal in its texts is erased. */
const RECORDING = new URL('recorded.hsperfdata.gz', import.meta.url);
/** The bytes of a file as a JVM makes it; the recording has those in use. */
const FILE_BYTES = 32_768;
/** Where the recording has `sun.rt.createVmBeginTime`, Unix milliseconds. */
const BEGAN_AT = 472;

/**
 * Puts the file below a folder, as of a JVM that is this process and begins now: it stays in the memory of
 * this process, as a JVM has its file.
 * @param pid of this process
 * @returns the directory that it is in
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

const DAY_MS = 86_400_000;
export const EXPORTER = 'the exporter';
/** Where JVMs keep their counters, one directory for each user. */
const HOST_JVMS = '/tmp/hsperfdata_*';
/** Enough changes for two scrapes to differ. */
const LIFE = ['--objects', '200', '--rate', '2', '--change-fraction', '0.5'];

interface CastParts {
  readonly options: DemoOptions;
  readonly children: Children;
  readonly belongings: Belongings;
  /** That of this process. */
  readonly pid: number;
  readonly unixMs: () => number;
  /** Called with log lines worth reading. */
  readonly log: (line: string) => void;
  /** Called once, when the exporter serves all targets. */
  readonly onReady: () => void;
  /** Called when a process ends, by itself or by us; `again` restarts it if that is possible. */
  readonly onEnd: (name: string, ended: Ended, again?: () => void) => void;
}

/**
 * Starts the simulated servers at once, and the bridge behind one; the exporter starts once all of
 * them run.
 */
export function startCast(parts: CastParts): void {
  // The bridge runs once it has published the tree of its server.
  let missing: number = TARGETS.length + 1;
  const onReady = () => {
    if (--missing === 0) startExporter(parts);
  };
  for (const target of TARGETS) startSimulator(parts, target, onReady);
  startComponent(parts, '0', (url) => {
    startBridge(parts, url, onReady);
  });
}

function startSimulator(parts: CastParts, target: DemoTarget, onReady: () => void): void {
  const { children, belongings, log, onEnd } = parts;
  const { app, serverKey, root } = target;
  children.start({
    program: 'bin/shm_simulator.js',
    args: [
      ...['--app', app, '--server-key', serverKey, '--root', root],
      ...['--context-id', belongings.contextId, ...LIFE],
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
 * A server that publishes nothing, but shows its tree over HTTP; the bridge follows it.
 * @param port where it listens; 0 for any, and then `onUrl` is called with its address
 */
function startComponent(parts: CastParts, port: string, onUrl: (url: string) => void): void {
  const { children, belongings, log, onEnd } = parts;
  let ownPort = port;
  children.start({
    program: 'bin/shm_simulator.js',
    args: [
      ...['--app', BRIDGED.app, '--root', BRIDGED.root, '--json-port', port],
      ...['--context-id', belongings.contextId, ...LIFE],
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
        // The bridge polls this port.
        startComponent(parts, ownPort, () => undefined);
      });
    },
  });
}

function startBridge(
  { children, belongings, log, onEnd }: CastParts,
  url: string,
  onReady: () => void,
): void {
  const { contextId } = belongings;
  const file = belongings.write('bridge.toml', bridgeConfiguration(contextId, url));
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

function startExporter({ children, onEnd, ...parts }: CastParts): void {
  const waiting = new Set(EXPORTED.map(nameOf));
  const news = new ExporterNews();
  children.start({
    program: 'bin/shm_exporter.js',
    args: ['--config', writeConfiguration(parts)],
    onLine: (line) => {
      const [, target = ''] = / info target (\S+ on \S+) ready: /.exec(line) ?? [];
      if (waiting.delete(target) && waiting.size === 0) parts.onReady();
      const text = waiting.size === 0 ? news.of(line) : undefined;
      if (text !== undefined) parts.log(text);
      else if (!/^\S+ info /.test(line)) parts.log(line);
    },
    onEnd: (ended) => {
      onEnd(EXPORTER, ended);
    },
  });
}

/** The exporter's name of a target. */
const nameOf = ({ app, serverKey }: Pick<DemoTarget, 'app' | 'serverKey'>): string =>
  `${app} on ${serverKey}`;

/** Writes the license and the configuration; returns the path of the latter. */
function writeConfiguration({
  options,
  belongings,
  pid,
  unixMs,
}: Pick<CastParts, 'options' | 'belongings' | 'pid' | 'unixMs'>): string {
  const now = unixMs();
  const license = issueLicense({
    licensee: 'demo',
    // A little before now, in case the clock is set back.
    issuedAt: new Date(now - 60_000),
    expiresAt: new Date(now + DAY_MS),
  });
  const { contextId } = belongings;
  const licenseFile = belongings.write('license.json', license);
  const jvmDirectories = [HOST_JVMS, recordedJvm(belongings.folder, pid, now)];
  const places = { contextId, licenseFile, jvmDirectories, ...options };
  return belongings.write('demo.toml', configuration(places));
}
