// Kills and stops C publishers at each step of each of their operations.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROJECT, TestPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { checkPage } from './oracle-page.js';
import { atEnd, percentile, usageOf } from './trial.js';
import type { Given, Outcome } from './trial.js';
import { BaselineExporter } from './baseline-exporter.js';
import { fetchPage } from './control-target.js';

const FAULTS_A_MINUTE = 500;
/** The number of publishers that run at the same time. Each has its own server key. */
const LANES = 8;
/**
 * The longest time until a dead publisher is no longer served, and the longest time until correct values
 * are served again.
 */
const MAX_DEAD_MS = 2000;
const MAX_BACK_MS = 2000;
const STOPPED_MS = 120;
/** The number of objects before an operation. They have the numbers 0 to 4. */
const ITEMS = 5;
/** A step that no operation reaches, so that no signal is sent. */
const NEVER = 1e9;
const SIGNALS = { SIGKILL: 9, SIGSTOP: 19 } as const;

interface Operation {
  readonly name: string;
  /** Whether the segment is served before the operation. */
  readonly isServed: boolean;
  /** The object that the operation adds, removes or changes. Meanwhile, a page may show any part of it. */
  readonly touches?: number;
  /** The number of complete objects that a page must show afterwards; undefined if the segment is gone. */
  readonly after: number | undefined;
}

const OPERATIONS: readonly Operation[] = [
  { name: 'open', isServed: false, after: ITEMS },
  { name: 'fill', isServed: false, after: ITEMS },
  { name: 'place', isServed: false, after: ITEMS },
  { name: 'add', isServed: true, touches: ITEMS, after: ITEMS + 1 },
  { name: 'remove', isServed: true, touches: ITEMS - 1, after: ITEMS - 1 },
  { name: 'remove variable', isServed: true, touches: ITEMS - 1, after: ITEMS - 1 },
  { name: 'state', isServed: true, after: ITEMS },
  { name: 'update', isServed: true, after: ITEMS },
  { name: 'sync', isServed: true, after: ITEMS },
  { name: 'date', isServed: true, after: ITEMS },
  { name: 'notify', isServed: true, after: ITEMS },
  { name: 'crowd', isServed: true, after: ITEMS },
  { name: 'close', isServed: true, after: undefined },
];

interface Fault {
  readonly operation: Operation;
  /** Counted from 1. */
  readonly step: number;
  readonly signal: keyof typeof SIGNALS;
}

export async function runStepFaults({ random, minutes, log }: Given): Promise<Outcome> {
  const programs = new TestPrograms();
  const baseline = await BaselineExporter.start();
  try {
    const binary = compile(programs);
    const all = OPERATIONS.map((operation) =>
      shuffled(faultsOf(binary, programs, operation), (below) => random.below(below)),
    );
    const most = Math.max(2 * OPERATIONS.length, Math.round(FAULTS_A_MINUTE * minutes));
    const chosen = alternating(all).slice(0, most);
    const keys = Array.from({ length: LANES }, (_, lane) => `k${lane}`);
    const tables = keys.map((key) => `[[targets]]\napp = "oracle"\nserver_key = "${key}"\n`);
    const config = programs.config({ render_min_interval_ms: 1 }, tables.join('\n'));
    const exporter = programs.start('exporter', ['--config', config]);
    const url = await exporter.url();
    const tally: Tally = { wrong: [], dead: [], back: [], baseline, pages: 0, tried: 0 };
    let next = 0;
    const lanes = keys.map(async (key) => {
      const lane = new Lane(programs, binary, key, `${url}?server_key=${key}`, tally);
      for (let fault = chosen[next++]; fault !== undefined; fault = chosen[next++]) {
        if (exporter.isOver) return;
        await lane.run(fault, next);
        if (++tally.tried % 500 === 0) log(`${tally.tried} of ${chosen.length}`);
      }
    });
    const before = usageOf(exporter.pid);
    await Promise.all(lanes);
    const { wrong, dead, back, pages } = tally;
    wrong.push(...(await atEnd(exporter, before, 3 * LANES)).wrong, ...baseline.wrong);
    const f = (times: readonly number[]) =>
      `${percentile(times, 0.5).toFixed(0)} ms, at most ${Math.max(...times).toFixed(0)} ms`;
    return {
      tried: tally.tried,
      wrong,
      figures: `of ${all.flat().length} in all; ${pages} pages; 503 after ${f(dead)}; right values after ${f(back)}`,
    };
  } finally {
    await baseline.close();
    await programs.close();
  }
}

function compile(programs: TestPrograms): string {
  const binary = programs.path('steps');
  const source = join(PROJECT, 'test/torture/publisher/steps.c');
  const options = ['-std=c11', '-O0', '-finstrument-functions', '-pthread'];
  const compiled = spawnSync('cc', [...options, '-o', binary, source]);
  if (compiled.status !== 0) throw new Error(`steps.c: ${String(compiled.stderr)}`);
  return binary;
}

/** Returns the faults of an operation: one for each step and signal. */
function faultsOf(binary: string, programs: TestPrograms, operation: Operation): Fault[] {
  const words = [programs.contextId, 'k0', 'h.1.oracle', operation.name, '0', '0'];
  const { stdout, status } = spawnSync(binary, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`steps ${operation.name}: status ${status}`);
  const steps = stdout.split('\n').length - 1;
  return Array.from({ length: steps }, (_, index) => index + 1).flatMap((step) => [
    { operation, step, signal: 'SIGKILL' },
    { operation, step, signal: 'SIGSTOP' },
  ]);
}

function shuffled<T>(items: readonly T[], below: (count: number) => number): readonly T[] {
  const rest = [...items];
  for (let at = rest.length - 1; at > 0; at--) {
    const other = below(at + 1);
    [rest[at], rest[other]] = [rest[other] as T, rest[at] as T];
  }
  return rest;
}

/**
 * Takes the first item of each list, then the second of each, and so on. So short lists are soon complete.
 */
function alternating<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) =>
    lists.flatMap((list) => list.slice(at, at + 1)),
  ).flat();
}

interface Tally {
  readonly wrong: string[];
  /**
   * Times in ms: from a publisher's death to status 503, and from a new or continued publisher to correct
   * values.
   */
  readonly dead: number[];
  readonly back: number[];
  /** Measures the delay of the machine. */
  readonly baseline: BaselineExporter;
  pages: number;
  tried: number;
}

/** One target. Its publishers run one after the other. */
class Lane {
  readonly #programs: TestPrograms;
  readonly #binary: string;
  readonly #key: string;
  readonly #url: string;
  readonly #tally: Tally;

  constructor(programs: TestPrograms, binary: string, key: string, url: string, tally: Tally) {
    this.#programs = programs;
    this.#binary = binary;
    this.#key = key;
    this.#url = url;
    this.#tally = tally;
  }

  async run(fault: Fault, number: number): Promise<void> {
    const { operation, step, signal } = fault;
    const what = `${operation.name}, step ${step}, ${signal}`;
    const root = `h.${number}.oracle`;
    const publisher = await this.#publish(root, operation.name, step, SIGNALS[signal]);
    if (operation.isServed) await this.#untilWhole(root, ITEMS, `${what}: before`);
    publisher.type('go');
    if (signal === 'SIGKILL') {
      await publisher.ended;
      await this.#until503(fault, root, what);
      const heirRoot = `h.${number}-heir.oracle`;
      const heir = await this.#publish(heirRoot, 'notify', NEVER, SIGNALS.SIGKILL);
      await this.#untilWhole(heirRoot, ITEMS, `${what}: after`);
      await heir.stop('SIGKILL');
      return;
    }
    await isStopped(publisher);
    const end = performance.now() + STOPPED_MS;
    while (performance.now() < end) await this.#page(fault, root, what);
    publisher.signal('SIGCONT');
    if (operation.after === undefined) await this.#until503(fault, root, what);
    else await this.#untilWhole(root, operation.after, `${what}: continued`, operation.touches);
    await publisher.stop('SIGKILL');
  }

  async #publish(root: string, operation: string, step: number, signal: number): Promise<Running> {
    const words = [
      this.#binary,
      this.#programs.contextId,
      this.#key,
      root,
      operation,
      step,
      signal,
    ];
    const publisher = this.#programs.command(words.map(String), { stdin: 'pipe' });
    await publisher.line(/ready/);
    if (step === NEVER) publisher.type('go');
    return publisher;
  }

  /** Scrapes once during the fault, and checks everything that the page shows of this publisher. */
  async #page({ operation }: Fault, root: string, what: string): Promise<number> {
    const { status, body } = await fetchPage(this.#url);
    this.#tally.pages++;
    if (status === 200 && body.includes(`root="${root}"`)) {
      const { touches } = operation;
      const rest = touches === undefined ? body : without(body, touches);
      const objects = touches === undefined ? ITEMS : Math.min(touches, ITEMS);
      const { faults } = checkPage(rest, objects, undefined, operation.name === 'update');
      for (const each of faults.slice(0, 3)) this.#tally.wrong.push(`${what}: ${each}`);
    } else if (status !== 200 && status !== 503)
      this.#tally.wrong.push(`${what}: status ${status}`);
    return status;
  }

  async #until503(fault: Fault, root: string, what: string): Promise<void> {
    const began = performance.now();
    while (performance.now() - began < MAX_DEAD_MS + this.#tally.baseline.delaySince(began))
      if ((await this.#page(fault, root, what)) === 503) {
        this.#tally.dead.push(performance.now() - began);
        return;
      } else await sleep(10);
    this.#tally.wrong.push(`${what}: no 503 within ${MAX_DEAD_MS} ms`);
  }

  /**
   * Waits for a page with this number of complete objects. If the touched object comes after them, its series
   * are ignored.
   */
  async #untilWhole(root: string, objects: number, what: string, touched?: number): Promise<void> {
    const began = performance.now();
    let last = '';
    while (performance.now() - began < MAX_BACK_MS + this.#tally.baseline.delaySince(began)) {
      const { status, body } = await fetchPage(this.#url);
      this.#tally.pages++;
      last = `status ${status}`;
      if (status === 200 && body.includes(`root="${root}"`)) {
        const rest = touched === objects ? without(body, touched) : body;
        const { faults } = checkPage(rest, objects);
        if (faults.length === 0) {
          this.#tally.back.push(performance.now() - began);
          return;
        }
        last = faults[0] ?? '';
      }
      await sleep(5);
    }
    this.#tally.wrong.push(`${what}: no whole page within ${MAX_BACK_MS} ms: ${last}`);
  }
}

/** Returns a page without the series of one object. */
const without = (body: string, object: number): string =>
  body
    .split('\n')
    .filter((line) => !line.includes(`object="o${object}"`))
    .join('\n');

async function isStopped(publisher: Running): Promise<void> {
  for (let tries = 0; tries < 2000; tries++) {
    const [, state] = /\) (\w)/.exec(readFileSync(`/proc/${publisher.pid}/stat`, 'utf8')) ?? [];
    if (state === 'T') return;
    await sleep(1);
  }
  throw new Error(`not stopped:\n${publisher.stderr}`);
}
