// Real programs in a place of their own: started, listened to, and gone when the suite ends.
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
/** A demo kills what has not ended after 6 s. */
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

/** The shortest and the longest time between two probes. */
const [MIN_PROBE_MS, MAX_PROBE_MS] = [5, 60];

/**
 * Probes until there is an answer; fails with `what` after a while. The time between two probes is a tenth of the
 * time waited, within bounds: a long wait takes little of the machine, and a short one ends soon.
 */
export async function answerOf<T>(
  what: string,
  probe: () => T | undefined | Promise<T | undefined>,
  withinMs = 120_000,
): Promise<T> {
  const start = performance.now();
  for (let waitedMs = 0; waitedMs < withinMs; waitedMs = performance.now() - start) {
    const answer = await probe();
    if (answer !== undefined) return answer;
    await delay(Math.min(MAX_PROBE_MS, Math.max(MIN_PROBE_MS, waitedMs / 10)));
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

  /** The first match on stderr, however long ago; fails when there is none in time. */
  line(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray> {
    const match = () => {
      const found = pattern.exec(this.#stderr);
      if (found === null && this.isOver)
        throw new Error(`It ended without ${pattern.source}:\n${this.#stderr}`);
      return found ?? undefined;
    };
    return answerOf(`stderr has ${pattern.source}`, match, withinMs);
  }

  /** Where an exporter serves metrics. */
  async url(): Promise<string> {
    const [, url = ''] = await this.line(/metrics at (http:\S+)/);
    return url;
  }

  /** Writes a line to its stdin. */
  type(line: string): void {
    this.send(`${line}\n`);
  }

  /** Writes to its stdin. */
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
  /** A file or named pipe that takes stdout; opened by the program itself, before it starts. */
  readonly stdoutTo?: string;
  /** A program that starts ours, with its arguments, such as a tracer. */
  readonly under?: readonly string[];
  /** `pipe`: `type()` writes there. Default: nothing is there. */
  readonly stdin?: 'pipe' | 'ignore';
}

/** What a theatre has: so many processes and publishers, and these files and segments. */
interface Act {
  readonly running: number;
  readonly published: number;
  readonly files: ReadonlySet<string>;
  readonly segments: ReadonlySet<string>;
}

let count = 0;

/** A context id, a temporary folder, a license, and the processes of one suite. */
export class Theatre {
  readonly contextId = uniqueName();

  constructor() {
    open.add(this);
  }

  /** Made when it is first used: a suite that is not run has no end at which it would go. */
  #folder: string | undefined;
  readonly #running: Running[] = [];
  readonly #published: Published[] = [];
  /** What was here before the last test began. */
  #act: Act = { running: 0, published: 0, files: new Set(), segments: new Set() };
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

  /** Starts any command line; it is stopped with the suite. */
  command(
    words: readonly string[],
    { stdoutTo, under = [], stdin = 'ignore' }: StartOptions = {},
  ): Running {
    const redirected = stdoutTo === undefined ? [] : ['sh', '-c', 'exec "$@" >"$0"', stdoutTo];
    const [file = '', ...args] = [...under, ...redirected, ...words];
    const running = new Running(spawn(file, args, { stdio: [stdin, 'pipe', 'pipe'] }));
    this.#running.push(running);
    return running;
  }

  /** Publishes a scenario, or the file of one, under this context. */
  play(scenario: object | string, ...args: readonly string[]): Published {
    return this.simulate('--scenario', this.#scenario(scenario), ...args);
  }

  /** Publishes a tree with the words of the simulator; no process is needed for it. */
  simulate(...args: readonly string[]): Published {
    const published = new Published('--context-id', this.contextId, ...args);
    this.#published.push(published);
    return published;
  }

  /** The simulator itself: for what ends, and for what is too busy to be here. */
  async simulator(...args: readonly string[]): Promise<Running> {
    const simulator = this.start('simulator', ['--context-id', this.contextId, ...args]);
    await simulator.line(/^ready$/m);
    return simulator;
  }

  /** The simulator with a scenario, once that is published. */
  player(scenario: object, ...args: readonly string[]): Promise<Running> {
    return this.simulator('--scenario', this.#scenario(scenario), ...args);
  }

  #scenario(scenario: object | string): string {
    if (typeof scenario === 'string') return scenario;
    return this.write(`scenario-${++count}.json`, JSON.stringify(scenario));
  }

  /** A valid license of the evaluation key, made once. */
  get license(): string {
    this.#license ??= this.issue('license.json', -1, 47);
    return this.#license;
  }

  /** A license of the evaluation key, between two moments in hours from now. */
  issue(name: string, fromHours: number, toHours: number): string {
    const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS);
    const term = { issuedAt: at(fromHours), expiresAt: at(toHours) };
    return this.write(name, issueLicense({ licensee: 'T', ...term }));
  }

  /** A configuration file; what is not given serves HTTP on a free port of this host. */
  config(settings: Readonly<Record<string, unknown>> = {}, more = ''): string {
    return this.write(`config-${++count}.toml`, this.settings(settings) + more);
  }

  /** The text of such a file. */
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

  /** Files of this context in shared memory, hidden ones too. */
  segments(): string[] {
    const prefix = `${this.contextId}.`;
    return readdirSync(SHM).filter((name) => name.replace(/^\./, '').startsWith(prefix));
  }

  #files(): string[] {
    return this.#folder === undefined ? [] : readdirSync(this.#folder);
  }

  /** Remembers what is here as a test begins. */
  begin(): void {
    const [running, published] = [this.#running.length, this.#published.length];
    const [files, segments] = [new Set(this.#files()), new Set(this.segments())];
    this.#act = { running, published, files, segments };
  }

  /** Takes away what has come since the last test began: it is tried again. */
  async beginAgain(): Promise<void> {
    const { running, published, files, segments } = this.#act;
    await this.#end(this.#running.slice(running));
    this.#running.length = running;
    for (const each of this.#published.splice(published)) each.close();
    for (const name of this.#files())
      if (!files.has(name)) rmSync(this.path(name), { recursive: true, force: true });
    for (const name of this.segments())
      if (!segments.has(name)) rmSync(join(SHM, name), { force: true });
    this.#license = undefined;
  }

  /** Ends what still runs at once. */
  kill(): void {
    for (const each of this.#running) each.signal('SIGKILL');
  }

  /** Lets processes that still run end in order, so that they take their files along; then kills them. */
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

/** Theatres that are not closed yet. */
const open = new Set<Theatre>();
process.once('exit', () => {
  for (const each of open) {
    each.kill();
    each.sweep();
  }
});

// A run that is cut short ends here in order, too: mocha's workers know nothing of signals.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/**
 * A theatre for the suite that calls it; emptied after it, and when the test run is cut short. A test that
 * is tried again finds it as the first try did.
 */
export function theatre(): Theatre {
  const made = new Theatre();
  let last: string | undefined;
  beforeEach(async function () {
    const title = this.currentTest?.fullTitle();
    if (title === last) await made.beginAgain();
    else made.begin();
    last = title;
  });
  after(() => made.close());
  return made;
}

/** Whether a program is installed. */
export const isInstalled = (program: string): boolean => spawnSync('which', [program]).status === 0;
