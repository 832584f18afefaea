// Starts the real programs for a test suite, reads their output, and removes them when the suite ends.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess, SpawnSyncReturns } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { issueLicense } from '#app/license/issue-license.js';
import { Published } from './published.js';
import { uniqueName } from './test-run.js';

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const SHM = '/dev/shm';
const HOUR_MS = 3_600_000;
/**
 * Processes that have not ended after this time are killed. It exceeds the 5 s within which every program
 * ends.
 */
const MAX_TO_END_MS = 8000;

const PROGRAMS = {
  bridge: 'dist/bin/shm_bridge.js',
  dump: 'dist/bin/shm_dump.js',
  exporter: 'dist/bin/shm_exporter.js',
  simulator: 'dist/bin/shm_simulator.js',
  license: 'dist/bin/shm_license.js',
  demo: 'dist/demo/cli.js',
} as const;
export type Program = keyof typeof PROGRAMS;

/** How a process ended: its exit status, or the signal that ended it. */
export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [5, 60];
/** After an expensive probe, the pause is this many times as long as the probe, up to the maximum. */
const [PAUSE_FACTOR, MAX_PAUSE_AFTER_PROBE_MS] = [4, 500];

/**
 * Calls `probe` until it returns a value; rejects with `what` after the deadline. The pause between two calls
 * is a tenth of the time waited so far, within bounds, but longer after an expensive probe. So a long wait uses
 * little processor time, and a short one ends promptly.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | Promise<T | undefined>,
  withinMs = 120_000,
): Promise<T> {
  const start = performance.now();
  for (let waitedMs = 0; waitedMs < withinMs; waitedMs = performance.now() - start) {
    const began = performance.now();
    const answer = await probe();
    if (answer !== undefined) return answer;
    const afterProbeMs = PAUSE_FACTOR * (performance.now() - began);
    await delay(
      Math.max(
        MIN_PAUSE_MS,
        Math.min(MAX_PAUSE_MS, waitedMs / 10),
        Math.min(MAX_PAUSE_AFTER_PROBE_MS, afterProbeMs),
      ),
    );
  }
  throw new Error(`${what}: not within ${withinMs} ms`);
}

export const delay = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

export class Running {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status, signal) => resolve({ status, signal }));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /**
   * Resolves with the first match in stderr, in earlier output or in new output. Fails if there is none in
   * time.
   */
  line(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray> {
    const match = () => {
      const found = pattern.exec(this.#stderr);
      if (found === null && this.isOver)
        throw new Error(`It ended without ${pattern.source}:\n${this.#stderr}`);
      return found ?? undefined;
    };
    return waitFor(`stderr has ${pattern.source}`, match, withinMs);
  }

  /** The URL at which an exporter serves metrics. */
  async url(): Promise<string> {
    const [, url = ''] = await this.line(/metrics at (http:\S+)/);
    return url;
  }

  /** Writes a line to the program's stdin. */
  type(line: string): void {
    this.send(`${line}\n`);
  }

  /** Writes to the program's stdin. */
  send(text: string): void {
    this.#child.stdin?.write(text);
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.isOver) process.kill(this.pid, signal);
  }

  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.signal(signal);
    return this.ended;
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}

export interface StartOptions {
  /** A file or named pipe for stdout. A shell opens the file, then starts the program. */
  readonly stdoutTo?: string;
  /** A descriptor for both stdout and stderr. By default they are pipes that the test reads. */
  readonly outputs?: number;
  /** The command line of a program that runs this one, such as a tracer. */
  readonly under?: readonly string[];
  /** `pipe` is required by `type()` and `send()`. Default: no stdin. */
  readonly stdin?: 'pipe' | 'ignore';
}

/**
 * The state before a test begins: counts of processes and publishers, and the names of files and segments.
 */
interface Baseline {
  readonly running: number;
  readonly published: number;
  readonly files: ReadonlySet<string>;
  readonly segments: ReadonlySet<string>;
}

let count = 0;

/** The context id, temporary folder, license, processes and published trees of one test suite. */
export class TestPrograms {
  readonly contextId = uniqueName();

  constructor() {
    open.add(this);
  }

  /**
   * Created at its first use. Mocha calls no hooks of a suite whose tests are all filtered out, so nothing
   * would remove a folder that was created earlier.
   */
  #folder: string | undefined;
  readonly #running: Running[] = [];
  readonly #published: Published[] = [];
  #baseline: Baseline = { running: 0, published: 0, files: new Set(), segments: new Set() };
  #license: string | undefined;

  path(name: string): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), 'shm-e2e-'));
    return join(this.#folder, name);
  }

  write(name: string, text: string): string {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  run(program: Program, ...args: readonly string[]): SpawnSyncReturns<string> {
    const path = join(PROJECT, PROGRAMS[program]);
    return spawnSync(process.execPath, [path, ...args], { encoding: 'utf8', timeout: 120_000 });
  }

  start(program: Program, args: readonly string[] = [], options: StartOptions = {}): Running {
    return this.command([process.execPath, join(PROJECT, PROGRAMS[program]), ...args], options);
  }

  /** Starts any command line. The process is stopped at the end of the suite. */
  command(
    words: readonly string[],
    { stdoutTo, outputs, under = [], stdin = 'ignore' }: StartOptions = {},
  ): Running {
    const redirected = stdoutTo === undefined ? [] : ['sh', '-c', 'exec "$@" >"$0"', stdoutTo];
    const [file = '', ...args] = [...under, ...redirected, ...words];
    const output = outputs ?? 'pipe';
    const running = new Running(spawn(file, args, { stdio: [stdin, output, output] }));
    this.#running.push(running);
    return running;
  }

  /** Publishes a scenario from this process. The scenario is an object or the path of a file. */
  publish(scenario: object | string, ...args: readonly string[]): Published {
    return this.simulate('--scenario', this.#scenario(scenario), ...args);
  }

  /** Publishes, from this process, the tree that the simulator would publish with these arguments. */
  simulate(...args: readonly string[]): Published {
    const published = new Published('--context-id', this.contextId, ...args);
    this.#published.push(published);
    return published;
  }

  /**
   * Starts shm_simulator and waits until it has published. Use it if the publisher must end or needs much
   * processor time.
   */
  async simulator(...args: readonly string[]): Promise<Running> {
    const simulator = this.start('simulator', ['--context-id', this.contextId, ...args]);
    await simulator.line(/^ready$/m);
    return simulator;
  }

  /** Starts shm_simulator with a scenario, and waits until it has published the tree. */
  simulatorOf(scenario: object, ...args: readonly string[]): Promise<Running> {
    return this.simulator('--scenario', this.#scenario(scenario), ...args);
  }

  #scenario(scenario: object | string): string {
    if (typeof scenario === 'string') return scenario;
    return this.write(`scenario-${++count}.json`, JSON.stringify(scenario));
  }

  /** The path of a valid license, signed with the evaluation key and written at the first use. */
  get license(): string {
    this.#license ??= this.issue('license.json', -1, 47);
    return this.#license;
  }

  /** Writes a license signed with the evaluation key, valid from `fromHours` to `toHours` after now. */
  issue(name: string, fromHours: number, toHours: number): string {
    const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS);
    const term = { issuedAt: at(fromHours), expiresAt: at(toHours) };
    return this.write(name, issueLicense({ licensee: 'T', ...term }));
  }

  /** Writes a configuration file. By default, it serves HTTP on a free port of the loopback address. */
  config(settings: Readonly<Record<string, unknown>> = {}, more = ''): string {
    return this.write(`config-${++count}.toml`, this.settings(settings) + more);
  }

  /** The text that `config` writes. */
  settings(settings: Readonly<Record<string, unknown>> = {}): string {
    const all = {
      context_id: this.contextId,
      license_file: this.license,
      metrics_http_enabled: true,
      metrics_bind_address: '127.0.0.1',
      metrics_port: 0,
      ...settings,
    };
    const lines = Object.entries(all).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
    return lines.join('');
  }

  exporter(settings: Readonly<Record<string, unknown>>, ...args: readonly string[]): Running {
    return this.start('exporter', ['--config', this.config(settings), ...args]);
  }

  /** The names of this context's files in /dev/shm, including hidden ones. */
  segments(): string[] {
    const prefix = `${this.contextId}.`;
    return readdirSync(SHM).filter((name) => name.replace(/^\./, '').startsWith(prefix));
  }

  #files(): string[] {
    return this.#folder === undefined ? [] : readdirSync(this.#folder);
  }

  /** Records what exists before a test begins. */
  recordBaseline(): void {
    const [running, published] = [this.#running.length, this.#published.length];
    const [files, segments] = [new Set(this.#files()), new Set(this.segments())];
    this.#baseline = { running, published, files, segments };
  }

  /** Before a retry, removes everything that is newer than the recorded baseline. */
  async restoreBaseline(): Promise<void> {
    const { running, published, files, segments } = this.#baseline;
    await this.#end(this.#running.slice(running));
    this.#running.length = running;
    for (const each of this.#published.splice(published)) each.close();
    for (const name of this.#files())
      if (!files.has(name)) rmSync(this.path(name), { recursive: true, force: true });
    for (const name of this.segments())
      if (!segments.has(name)) rmSync(join(SHM, name), { force: true });
    this.#license = undefined;
  }

  /** Kills each process that still runs. */
  kill(): void {
    for (const each of this.#running) each.signal('SIGKILL');
  }

  /** Sends SIGTERM, so that processes can remove their files. Kills those that do not end in time. */
  async #end(processes: readonly Running[]): Promise<void> {
    const signalAll = (signal: NodeJS.Signals) => {
      for (const each of processes) each.signal(signal);
    };
    signalAll('SIGTERM');
    const late = setTimeout(signalAll, MAX_TO_END_MS, 'SIGKILL');
    await Promise.allSettled(processes.map(({ ended }) => ended));
    clearTimeout(late);
  }

  async close(): Promise<void> {
    await this.#end(this.#running);
    this.sweep();
    open.delete(this);
  }

  sweep(): void {
    for (const each of this.#published.splice(0)) each.close();
    for (const name of this.segments()) rmSync(join(SHM, name), { force: true });
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}

const open = new Set<TestPrograms>();
process.once('exit', () => {
  for (const each of open) {
    each.kill();
    each.sweep();
  }
});

// Mocha's workers do not handle signals. Exit, so that the handlers of `exit` also run when a test run is
// interrupted.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/**
 * The test programs of the suite that calls this function. They are removed at the end of the suite, or
 * when the run is interrupted. Before mocha retries a test, everything that the failed attempt created is
 * removed.
 */
export function testPrograms(): TestPrograms {
  const made = new TestPrograms();
  let last: string | undefined;
  beforeEach(async function () {
    const title = this.currentTest?.fullTitle();
    if (title === last) await made.restoreBaseline();
    else made.recordBaseline();
    last = title;
  });
  after(() => made.close());
  return made;
}

/** Whether a program is installed. */
export const isInstalled = (program: string): boolean => spawnSync('which', [program]).status === 0;
