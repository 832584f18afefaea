// Faults that come from the operating system: scarce resources, clock jumps and signals.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { Forge } from './forge.js';
import { TestPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { isTried, percentile, usageOf } from './trial.js';
import type { Given, Outcome } from './trial.js';
import { BaselineExporter } from './baseline-exporter.js';
import { ControlPublisher, faultsOf, fetchPage } from './control-target.js';

/**
 * Faults have their full size and duration in runs of at least this many minutes. Shorter runs scale both
 * down.
 */
const FULL_MINUTES = 30;
const LEAST_MS = 500;
const FULL_MS = 60_000;
const MAX_BACK_MS = 2000;
/** The time limit of a scrape, and of the wait for right values. A slow machine may take so long. */
const MAX_WAIT_MS = 10_000;
const UPDATE_MS = 50;
const REST_MS = 25;

interface FaultContext {
  readonly programs: TestPrograms;
  readonly exporter: Running;
  readonly port: number;
  /** The duration of the fault. */
  readonly ms: number;
  /** The size of the fault as a share of its full size, from 0 to 1. */
  readonly scale: number;
}

interface ProcessFault {
  readonly name: string;
  /** The command that wraps the exporter. */
  readonly under?: (programs: TestPrograms) => readonly string[];
  /** The path of a required file that may not be installed. */
  readonly needs?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The server keys of additional targets. */
  readonly keys?: (scale: number) => readonly string[];
  /** Starts the fault and returns a function that ends it. */
  readonly begin: (context: FaultContext) => Promise<() => Promise<void>> | (() => Promise<void>);
}

const nothing = (): Promise<void> => Promise.resolve();
/** Repeats an action and returns a function that stops it. */
const each = (ms: number, act: (round: number) => void): (() => Promise<void>) => {
  let round = 0;
  const timer = setInterval(() => {
    act(round++);
  }, ms);
  return () => {
    clearInterval(timer);
    return nothing();
  };
};
const DESCRIPTORS = 64;
const MANY = 500;
/** From Debian's package faketime. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const CLOCK = 'clock';

/** Creates a tree with this number of objects below one root. */
function tree(contextId: string, key: string, objects: number): Forge {
  const forge = new Forge(contextId, key, {
    records: objects + 1,
    stringBytes: 4096 + 64 * objects,
  });
  const parent = forge.object({ name: `h.1.${key}` });
  for (let i = 1; i < objects; i++) forge.object({ name: `h.1.${key}.${i}`, parent });
  forge.publish();
  forge.place();
  return forge;
}

const FAULTS: readonly ProcessFault[] = [
  {
    name: 'more connections than files may be open',
    under: () => ['sh', '-c', `ulimit -n ${DESCRIPTORS}; exec "$@"`, 'sh'],
    settings: { http_max_connections: 65_535 },
    keys: () => ['evil'],
    begin: async ({ programs, port }) => {
      const sockets: Socket[] = [];
      for (let i = 0; i < 2 * DESCRIPTORS; i++)
        sockets.push(connect(port, '127.0.0.1').on('error', () => undefined));
      await sleep(200);
      // The exporter must still be able to open a segment that appears during the fault.
      const forge = tree(programs.contextId, 'evil', 10);
      return () => {
        for (const socket of sockets) socket.destroy();
        forge.close();
        return nothing();
      };
    },
  },
  {
    name: 'a storm of signals',
    begin: ({ exporter }) =>
      each(5, (round) => {
        exporter.signal(
          (['SIGHUP', 'SIGUSR1', 'SIGPIPE', 'SIGWINCH', 'SIGCONT'] as const)[round % 5] ?? 'SIGHUP',
        );
      }),
  },
  {
    name: 'a publisher that comes and goes ten times a second',
    keys: () => ['evil'],
    begin: ({ programs }) => {
      let forge: Forge | undefined;
      const end = each(50, (round) => {
        forge?.close();
        forge = round % 2 === 0 ? tree(programs.contextId, 'evil', 1 + (round % 100)) : undefined;
      });
      return async () => {
        await end();
        forge?.close();
      };
    },
  },
  {
    name: `${MANY} targets of which half never appear`,
    keys: (scale) => Array.from({ length: Math.ceil(MANY * scale) }, (_, index) => `evil${index}`),
    begin: ({ programs, scale }) => {
      const forges = Array.from({ length: Math.ceil((MANY * scale) / 2) }, (_, index) =>
        tree(programs.contextId, `evil${2 * index}`, 20),
      );
      return () => {
        for (const forge of forges) forge.close();
        return nothing();
      };
    },
  },
  {
    name: 'a heap of 64 MB, and a segment of a million objects',
    under: () => ['env', 'NODE_OPTIONS=--max-old-space-size=64'],
    settings: { segment_max_items: 50_000 },
    keys: () => ['evil'],
    begin: ({ programs, scale }) => {
      const forge = tree(programs.contextId, 'evil', Math.max(60_000, Math.round(1e6 * scale)));
      return () => {
        forge.close();
        return nothing();
      };
    },
  },
  {
    name: 'the clock of the day jumps to and fro by hours',
    needs: FAKETIME,
    // Fake the time of day only. A real monotonic clock never jumps.
    under: (programs) => [
      'env',
      `LD_PRELOAD=${FAKETIME}`,
      `FAKETIME_TIMESTAMP_FILE=${programs.write(CLOCK, '+0')}`,
      'FAKETIME_NO_CACHE=1',
      'DONT_FAKE_MONOTONIC=1',
    ],
    begin: ({ programs }) => {
      const end = each(200, (round) => {
        programs.write(CLOCK, ['+3h', '-3h', '+20m', '-1', '+0'][round % 5] ?? '+0');
      });
      return async () => {
        await end();
        programs.write(CLOCK, '+0');
      };
    },
  },
  {
    name: 'it is stopped and continued',
    begin: ({ exporter }) => {
      const end = each(300, (round) => {
        exporter.signal(round % 2 === 0 ? 'SIGSTOP' : 'SIGCONT');
      });
      return async () => {
        await end();
        exporter.signal('SIGCONT');
      };
    },
  },
];

/** Runs every fault, in both modes if there is time. */
export async function runProcessFaults(given: Given): Promise<Outcome> {
  const { minutes, only, log } = given;
  const scale = Math.max(0.02, Math.min(1, minutes / FULL_MINUTES));
  const ms = Math.max(LEAST_MS, (FULL_MS * scale) / 2);
  const wrong: string[] = [];
  let tried = 0;
  let longest = 0;
  const baseline = await BaselineExporter.start();
  try {
    for (const mode of ['logical', 'threaded'] as const)
      for (const [index, fault] of FAULTS.entries()) {
        const name = `${mode}, ${fault.name}`;
        if (!name.includes(only) || !isTried(given, mode, index)) continue;
        if (fault.needs !== undefined && !existsSync(fault.needs)) {
          log(`${name}: not tried, ${fault.needs} is not there`);
          continue;
        }
        tried++;
        const { found, backMs, delayMs, p99, mb } = await run(fault, { mode, ms, scale, baseline });
        longest = Math.max(longest, backMs);
        log(
          `${name}: p99 ${p99.toFixed(0)} ms, ${mb.toFixed(0)} MB, back after ${backMs.toFixed(0)} ms`,
        );
        if (backMs > MAX_BACK_MS + delayMs) found.push(`back after ${backMs.toFixed(0)} ms`);
        wrong.push(...found.slice(0, 3).map((what) => `${name}: ${what}`));
      }
  } finally {
    await baseline.close();
  }
  wrong.push(...baseline.wrong);
  return { tried, wrong, figures: `right values were back after ${longest.toFixed(0)} ms at most` };
}

interface FaultOptions extends Pick<FaultContext, 'ms' | 'scale'> {
  readonly mode: 'logical' | 'threaded';
  readonly baseline: BaselineExporter;
}

async function run(
  { under, settings = {}, keys = () => [], begin }: ProcessFault,
  { mode, ms, scale, baseline }: FaultOptions,
): Promise<{ found: string[]; backMs: number; delayMs: number; p99: number; mb: number }> {
  const programs = new TestPrograms();
  const control = new ControlPublisher(programs.contextId);
  const updates = setInterval(() => {
    control.update();
  }, UPDATE_MS);
  const found: string[] = [];
  const times: number[] = [];
  try {
    const table = (app: string, key: string) =>
      `[[targets]]\napp = "${app}"\nserver_key = "${key}"\n`;
    const tables = [table('good', 'good'), ...keys(scale).map((key) => table(key, key))];
    const all = { worker_execution_mode: mode, target_workers: 2, render_min_interval_ms: 1 };
    const config = programs.config({ ...all, ...settings }, tables.join(''));
    const exporter = programs.start('exporter', ['--config', config], {
      under: under?.(programs) ?? [],
    });
    const url = await exporter.url();
    await exporter.line(/target good on good ready/);
    const target = `${url}?server_key=good`;
    /** Returns the errors on the current page, or undefined if there is no page. */
    const look = async (): Promise<string[] | undefined> => {
      const { round } = control;
      const answer = await fetchPage(target, MAX_WAIT_MS).catch(() => undefined);
      if (answer === undefined) return undefined;
      times.push(answer.ms);
      return faultsOf(answer, round);
    };

    const context = { programs, exporter, port: Number(new URL(url).port), ms, scale };
    const end = await begin(context);
    let failed = 0;
    for (const until = performance.now() + ms; performance.now() < until && !exporter.isOver;) {
      const faults = await look();
      if (faults === undefined) failed++;
      else found.push(...faults);
      await sleep(REST_MS);
    }
    if (failed > 0) found.push(`${failed} scrapes failed`);
    await end();
    const began = performance.now();
    let isBack = false;
    while (!isBack && !exporter.isOver && performance.now() < began + MAX_WAIT_MS)
      isBack = (await look())?.length === 0;
    const backMs = isBack ? performance.now() - began : Infinity;
    const delayMs = baseline.delaySince(began);
    if (exporter.isOver) found.push(`the exporter ended: ${exporter.stderr.slice(-300)}`);
    const { mb } = exporter.isOver ? { mb: NaN } : usageOf(exporter.pid);
    await exporter.stop();
    return { found, backMs, delayMs, p99: percentile(times, 0.99), mb };
  } finally {
    clearInterval(updates);
    control.close();
    await programs.close();
  }
}
