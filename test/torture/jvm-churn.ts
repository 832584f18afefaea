// Starts and ends real JVMs all the time. Measures how soon each appears and disappears, and checks for
// leaked files.
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { TILL_CLASS } from '../hsperfdata/till-class.js';
import { TestPrograms, waitFor, isInstalled } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { processWithPid } from '../support/process-with-pid.js';
import { atEnd, percentile, usageOf } from './trial.js';
import type { Given, Outcome } from './trial.js';
import { BaselineExporter } from './baseline-exporter.js';
import { fetchPage } from './control-target.js';

/**
 * The number of JVMs per minute of a run. They start at a rate of 50 per minute, so this trial takes a tenth of the
 * run.
 */
const JVMS_A_MINUTE = 5;
const LEAST_JVMS = 5;
const START_EVERY_MS = 1200;
/** The longest time for which a JVM runs after it appears. */
const LIFE_MS = 2000;
const SCRAPE_EVERY_MS = 50;
/** How soon a JVM must appear after its start, and disappear after its end. */
const PROMISED_MS = 2000;
const PATIENCE_MS = 20_000;
/** One in this number of JVMs is asked for its counters over a socket. */
const ASK_EVERY = 10;
const FLAGS = [
  '-XX:+UseSerialGC',
  '-Xmx16m',
  '--add-exports',
  'java.base/jdk.internal.perf=ALL-UNNAMED',
];

type End = 'orderly' | 'killed' | 'replaced';
const ENDS: readonly End[] = ['orderly', 'killed', 'replaced'];

interface Times {
  readonly seenMs: number[];
  readonly goneMs: number[];
  /** The number of ended JVMs whose PID another process got. */
  replaced: number;
}

export async function runJvmChurn({ random, minutes, log }: Given): Promise<Outcome> {
  if (!isInstalled('java')) return { tried: 0, wrong: [], figures: 'there is no java' };
  const count = Math.max(LEAST_JVMS, Math.round(JVMS_A_MINUTE * minutes));
  const programs = new TestPrograms();
  const baseline = await BaselineExporter.start();
  const wrong: string[] = [];
  const times: Times = { seenMs: [], goneMs: [], replaced: 0 };
  try {
    writeFileSync(programs.path('Till.class'), TILL_CLASS);
    const exporter = programs.start('exporter', ['--config', programs.config({}, TARGET)]);
    const pages = new Pages(`${await exporter.url()}?server_key=jvm`, exporter);
    const begin = (number: number): Promise<void> => {
      const end = ENDS[random.below(ENDS.length)] ?? 'orderly';
      return lifeOf({ number, end, programs, pages, times, baseline }).catch((error: unknown) => {
        wrong.push(`JVM ${number}, ${end}: ${String(error)}`);
      });
    };
    // The first poll opens descriptors that stay open. Count descriptors only after it.
    await begin(0);
    const before = usageOf(exporter.pid);
    const lives: Promise<void>[] = [];
    for (let number = 1; number < count; number++) {
      lives.push(begin(number));
      if (number % 50 === 49) log(`${number + 1} of ${count} JVMs`);
      await sleep(START_EVERY_MS);
    }
    await Promise.all(lives);
    await pages.end();
    const { wrong: faults, after } = await atEnd(exporter, before);
    return {
      tried: count,
      wrong: [...wrong, ...faults, ...pages.wrong, ...baseline.wrong],
      figures: figuresOf(times, after.mb),
    };
  } finally {
    await baseline.close();
    await programs.close();
  }
}

const TARGET = `[[targets]]
app = "jvm"
server_key = "jvm"
format = "hsperfdata"
format_settings = { directories = ["/tmp/hsperfdata_*"], main_classes = ["Till"] }
`;

function figuresOf({ seenMs, goneMs, replaced }: Times, mb: number): string {
  const text = (times: readonly number[]) =>
    `${percentile(times, 0.5).toFixed(0)} ms, at most ${Math.max(...times).toFixed(0)} ms`;
  return `seen ${text(seenMs)} after the file; gone ${text(goneMs)} after the end; ${replaced} numbers used again; ${mb.toFixed(0)} MB`;
}

interface Life {
  readonly number: number;
  readonly end: End;
  readonly programs: TestPrograms;
  readonly pages: Pages;
  readonly times: Times;
  readonly baseline: BaselineExporter;
}

/** Starts a JVM, waits until it appears, ends it, and waits until it disappears. */
async function lifeOf({ number, end, programs, pages, times, baseline }: Life): Promise<void> {
  const line = [...FLAGS, '-cp', programs.path(''), 'Till'];
  const child = spawn('java', line, { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const { pid = 0 } = child;
  const file = `/tmp/hsperfdata_${userInfo().username}/${pid}`;
  let other: ChildProcess | undefined;
  try {
    await waitFor('its file is there', () => existsSync(file) || undefined, PATIENCE_MS);
    const fileMs = performance.now();
    const seen = pages.when(pid, true, fileMs);
    // On a busy machine, a JVM takes seconds from its file to its main method.
    await once(createInterface({ input: child.stdout }), 'line');
    const startMs = performance.now();
    times.seenMs.push((await withinPromise('it is seen', seen, startMs, baseline)) - fileMs);
    await sleep((LIFE_MS * (number % 7)) / 7);
    if (!existsSync(file)) throw new Error('it lost its file');
    if (number % ASK_EVERY === 0) await askForCounters(pid);
    if (end === 'orderly') child.stdin.end();
    else child.kill('SIGKILL');
    await ended;
    const endMs = performance.now();
    if (end === 'replaced') other = processWithPid(pid);
    if (other !== undefined) times.replaced++;
    const gone = pages.when(pid, false, endMs);
    times.goneMs.push((await withinPromise('it is gone', gone, endMs, baseline)) - endMs);
  } finally {
    child.kill('SIGKILL');
    other?.kill('SIGKILL');
    await ended;
    // A killed JVM leaves its file behind.
    rmSync(file, { force: true });
  }
}

/**
 * Returns the moment at which something happened.
 * @throws Error if it took longer than PROMISED_MS and the delay of the machine
 */
async function withinPromise(
  what: string,
  happened: Promise<number>,
  sinceMs: number,
  baseline: BaselineExporter,
): Promise<number> {
  const atMs = await happened;
  if (atMs - sinceMs > PROMISED_MS + baseline.delaySince(sinceMs))
    throw new Error(`${what} after ${(atMs - sinceMs).toFixed(0)} ms`);
  return atMs;
}

/** Checks that jcmd can read the JVM's counters. It cannot if the JVM has given up its file. */
async function askForCounters(pid: number): Promise<void> {
  const { stdout } = await promisify(execFile)('jcmd', [String(pid), 'PerfCounter.print']);
  if (!stdout.includes('sun.rt.createVmBeginTime='))
    throw new Error(`jcmd sees no counters: ${stdout.slice(0, 100)}`);
}

/** Scrapes continuously, and reports when a JVM appears and disappears. */
class Pages {
  readonly wrong: string[] = [];
  readonly #waiting = new Set<(pids: ReadonlySet<number>, beganMs: number) => void>();
  readonly #all: Promise<void>;
  #isOver = false;

  constructor(url: string, exporter: Running) {
    this.#all = this.#scrape(url, exporter);
  }

  /**
   * Resolves with the time of the first page that shows the JVM, or, if `isThere` is false, of the first
   * page that does not. Only pages requested after `sinceMs` count.
   */
  when(pid: number, isThere: boolean, sinceMs: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const look = (pids: ReadonlySet<number>, beganMs: number): void => {
        const isRight = beganMs >= sinceMs && pids.has(pid) === isThere;
        if (!isRight && beganMs < sinceMs + PATIENCE_MS) return;
        this.#waiting.delete(look);
        if (isRight) resolve(performance.now());
        else reject(new Error(isThere ? 'it was never seen' : 'it was never gone'));
      };
      this.#waiting.add(look);
    });
  }

  end(): Promise<void> {
    this.#isOver = true;
    return this.#all;
  }

  async #scrape(url: string, exporter: Running): Promise<void> {
    while (!this.#isOver && !exporter.isOver) {
      const beganMs = performance.now();
      try {
        const { status, body } = await fetchPage(url);
        if (status !== 200) this.wrong.push(`status ${status}: ${body.trim().slice(0, 200)}`);
        const pids = new Set<number>();
        for (const [, pid] of body.matchAll(/^jvm_threads_current\{pid="(\d+)"/gm))
          pids.add(Number(pid));
        for (const look of [...this.#waiting]) look(pids, beganMs);
      } catch (error) {
        this.wrong.push(String(error));
      }
      await sleep(SCRAPE_EVERY_MS);
    }
  }
}
