// Kills and stops C publishers that have several threads. Each of their values identifies its variable and
// update.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROJECT, TestPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { checkPage } from './oracle-page.js';
import { atEnd, percentile, usageOf } from './trial.js';
import type { Given, Outcome } from './trial.js';
import { BaselineExporter } from './baseline-exporter.js';
import { fetchPage } from './control-target.js';

const KILLS_A_MINUTE = 70;
const ROOT = 'h.1.oracle';
/** The number of threads, and their pause in µs after each round of all values; 0 means no pause. */
const PACES = [
  [1, 1000],
  [2, 100_000],
  [3, 1000],
  [4, 0],
] as const;
/** How soon a dead publisher must no longer be served, and a new publisher must be served. */
const MAX_DEAD_MS = 2000;
const MAX_BACK_MS = 2000;
const MAX_PAGES = 17;
const STALE = /^shm_exporter_target_stale_frames_total (\d+)$/m;

export async function runKills({ random, minutes, log }: Given): Promise<Outcome> {
  const programs = new TestPrograms();
  const baseline = await BaselineExporter.start();
  const wrong: string[] = [];
  const dead: number[] = [];
  const back: number[] = [];
  let values = 0;
  let lacking = 0;
  /** The number of values that could not be copied consistently, as counted on the last page. */
  let stale = 0;
  try {
    const binary = programs.path('oracle');
    const source = join(PROJECT, 'test/torture/publisher/oracle.c');
    const compiled = spawnSync('cc', ['-std=c11', '-O2', '-o', binary, source, '-pthread']);
    if (compiled.status !== 0) throw new Error(`oracle.c: ${String(compiled.stderr)}`);
    const config = programs.config(
      { render_min_interval_ms: 1 },
      '[[targets]]\napp = "oracle"\nserver_key = "k"\n',
    );
    const exporter = programs.start('exporter', ['--config', config]);
    const url = await exporter.url();

    const publish = async (objects: number): Promise<Running> => {
      const [threads, pauseUs] = PACES[random.below(PACES.length)] ?? [1, 0];
      const words = [binary, programs.contextId, 'k', ROOT, objects, threads, pauseUs].map(String);
      const publisher = programs.command(words);
      await publisher.line(/ready/);
      return publisher;
    };
    /** Waits until the target answers with this status, and returns the time in ms. */
    const until = async (status: number, withinMs: number, what: string): Promise<number> => {
      const began = performance.now();
      while (performance.now() - began < withinMs + baseline.delaySince(began))
        if ((await fetchPage(url)).status === status) return performance.now() - began;
      wrong.push(`${what}: no ${status} within ${withinMs} ms`);
      return withinMs;
    };

    const kills = Math.max(3, Math.round(KILLS_A_MINUTE * minutes));
    let before = usageOf(exporter.pid);
    for (let kill = 0; kill < kills && !exporter.isOver; kill++) {
      const objects = 1 + random.below(100);
      const publisher = await publish(objects);
      back.push(await until(200, MAX_BACK_MS, `publisher ${kill}`));
      let rounds: ReadonlyMap<number, number> = new Map();
      const staleBefore = stale;
      const pages = 1 + random.below(MAX_PAGES);
      for (let page = 0; page < pages; page++) {
        const isStopped = random.below(4) === 0;
        if (isStopped) publisher.signal('SIGSTOP');
        const answer = await fetchPage(url);
        if (answer.status === 200) {
          stale = Number(STALE.exec(answer.body)?.[1]);
          const checked = checkPage(answer.body, objects, rounds, stale > staleBefore);
          ({ rounds } = checked);
          lacking += checked.lacking;
          values += checked.values;
          wrong.push(...checked.faults.slice(0, 3).map((what) => `kill ${kill}: ${what}`));
        } else wrong.push(`kill ${kill}, page ${page}: status ${answer.status}: ${answer.body}`);
        if (isStopped) publisher.signal('SIGCONT');
      }
      await sleep(random.below(20));
      await publisher.stop('SIGKILL');
      dead.push(await until(503, MAX_DEAD_MS, `kill ${kill}`));
      if (kill === Math.floor(kills / 4)) before = usageOf(exporter.pid);
      if (kill % 100 === 99) log(`${kill + 1} of ${kills} kills, ${values} values`);
    }
    const { wrong: faults, after } = await atEnd(exporter, before, 2);
    wrong.push(...faults, ...baseline.wrong);
    const f = (times: readonly number[]) =>
      `${percentile(times, 0.5).toFixed(0)} ms, at most ${Math.max(...times).toFixed(0)} ms`;
    return {
      tried: dead.length,
      wrong,
      figures: `${values} values, ${lacking} frames not there yet; 503 after ${f(dead)}; 200 after ${f(back)}; ${before.mb.toFixed(0)} to ${after.mb.toFixed(0)} MB`,
    };
  } finally {
    await baseline.close();
    await programs.close();
  }
}
