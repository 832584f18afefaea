// Serves hostile segments beside a control target. The exporter must survive and serve the control target.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestPrograms } from '../support/processes.js';
import { HOSTILE } from './hostile-cases.js';
import type { HostileCase } from './hostile-cases.js';
import { isTried, percentile } from './trial.js';
import type { Given, Outcome } from './trial.js';
import { BaselineExporter } from './baseline-exporter.js';
import { ControlPublisher, faultsOf, fetchPage } from './control-target.js';

interface HostileOptions {
  readonly mode: 'logical' | 'threaded';
  readonly seed: number;
  /** The size of the case as a share of its full size, from 0 to 1. */
  readonly scale: number;
  /** The duration of the fault. */
  readonly ms: number;
  readonly baseline: BaselineExporter;
}

interface HostileResult {
  /**
   * The 99th percentiles of the scrape times of the control target, in ms. `baseline` is measured during the
   * fault, at an exporter without a hostile target. It shows how much the hostile publisher slows the machine
   * down.
   */
  readonly p99: readonly [before: number, during: number, baseline: number];
  readonly worstMs: number;
  /** The delay of the machine from the start of the fault until the values were correct again. */
  readonly delayMs: number;
  readonly peakMb: number;
  /** The time from the end of the fault to correct values of the control target, in ms. */
  readonly backMs: number;
  readonly wrong: readonly string[];
}

const UPDATE_MS = 50;
const REST_MS = 20;

const peakMb = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/**
 * Cases have their full size and duration in runs of at least this many minutes. Shorter runs scale both
 * down.
 */
const FULL_MINUTES = 30;
const FULL_MS = 8000;
const LEAST_MS = 300;
/**
 * The minimum duration of a fault that makes a segment invalid. The exporter must notice the fault while it
 * lasts.
 */
const LEAST_INVALID_MS = 1000;
/** The longest time for a scrape of the control target, and until its values are correct again. */
const MAX_WAIT_MS = 1000;
const MAX_BACK_MS = 2000;

const p99 = (times: readonly number[]): number => percentile(times, 0.99);

/** Runs every case, in both modes if there is time. */
export async function runAllHostile(given: Given): Promise<Outcome> {
  const { seed, minutes, only, log } = given;
  const part = Math.min(1, minutes / FULL_MINUTES);
  const wrong: string[] = [];
  let tried = 0;
  let worst = 0;
  const baseline = await BaselineExporter.start();
  try {
    for (const mode of ['logical', 'threaded'] as const)
      for (const [index, each] of HOSTILE.entries()) {
        if (!`${mode}, ${each.name}`.includes(only) || !isTried(given, mode, index)) continue;
        tried++;
        const least = each.endsInvalid === true ? LEAST_INVALID_MS : LEAST_MS;
        const ms = Math.max(least, FULL_MS * part);
        const result = await runHostile(each, {
          mode,
          seed,
          scale: Math.max(0.02, part),
          ms,
          baseline,
        });
        const { worstMs, peakMb: peak, backMs, delayMs } = result;
        worst = Math.max(worst, worstMs);
        const [before, during, beside] = result.p99.map((time) => time.toFixed(0));
        log(
          `${mode}, ${each.name}: p99 ${before} to ${during} ms (${beside} in another process), at most ${worstMs.toFixed(0)} ms, ` +
            `${peak.toFixed(0)} MB, back after ${backMs.toFixed(0)} ms`,
        );
        const name = `${mode}, ${each.name}`;
        wrong.push(...result.wrong.slice(0, 3).map((what) => `${name}: ${what}`));
        if (worstMs > MAX_WAIT_MS + delayMs)
          wrong.push(`${name}: a scrape took ${worstMs.toFixed(0)} ms`);
        if (backMs > MAX_BACK_MS + delayMs)
          wrong.push(`${name}: back after ${backMs.toFixed(0)} ms`);
      }
  } finally {
    await baseline.close();
  }
  return {
    tried,
    wrong: [...wrong, ...baseline.wrong],
    figures: `a scrape of the control target took ${worst.toFixed(0)} ms at most`,
  };
}

/** Runs one case with an exporter, a control target, and the hostile publishers in a separate process. */
async function runHostile(
  { name, keys = ['evil'], endsInvalid = false }: HostileCase,
  { mode, seed, scale, ms, baseline }: HostileOptions,
): Promise<HostileResult> {
  const programs = new TestPrograms();
  const { contextId } = programs;
  const control = new ControlPublisher(contextId);
  const updates = setInterval(() => {
    control.update();
  }, UPDATE_MS);
  const words = [name, contextId, String(seed), String(scale)];
  const adversary = fork(new URL('adversary.js', import.meta.url), words);
  const wrong: string[] = [];
  try {
    const isPrepared = once(adversary, 'message');
    const target = (app: string, key: string) =>
      `[[targets]]\napp = "${app}"\nserver_key = "${key}"\n`;
    const targets = [target('good', 'good'), ...keys.map((key) => target('evil', key))];
    const workers = { worker_execution_mode: mode, target_workers: mode === 'threaded' ? 2 : 1 };
    const settings = { ...workers, render_min_interval_ms: 1 };
    const exporter = programs.start('exporter', [
      '--config',
      programs.config(settings, targets.join('')),
    ]);
    const url = await exporter.url();
    await exporter.line(/target good on good ready/);
    await isPrepared;

    const scrape = async (times: number[]): Promise<void> => {
      const { round } = control;
      try {
        const answer = await fetchPage(`${url}?server_key=good`);
        times.push(answer.ms);
        wrong.push(...faultsOf(answer, round));
      } catch (error) {
        wrong.push(String(error));
      }
      await sleep(REST_MS);
    };
    const scrapeFor = async (span: number): Promise<readonly number[]> => {
      const times: number[] = [];
      const end = performance.now() + span;
      while (performance.now() < end && !exporter.isOver) await scrape(times);
      return times;
    };
    /** Waits for correct values, for at most the duration of the fault, and returns the time it took. */
    const back = async (): Promise<number> => {
      const began = performance.now();
      while (performance.now() < began + ms && !exporter.isOver) {
        const { round } = control;
        const answer = await fetchPage(`${url}?server_key=good`).catch(() => undefined);
        if (answer !== undefined && faultsOf(answer, round).length === 0) break;
      }
      return performance.now() - began;
    };

    await scrapeFor(ms / 8);
    const before = await scrapeFor(ms);
    const placedMs = performance.now();
    adversary.send({ do: 'place', url });
    const during = await scrapeFor(ms);
    const baselineTimes = baseline.timesSince(placedMs);
    if (endsInvalid) {
      const { status } = await fetchPage(`${url}?server_key=evil`);
      if (status !== 503) wrong.push(`the invalid segment is served, status ${status}`);
    }
    adversary.send({ do: 'end' });
    const backMs = await back();
    const delayMs = baseline.delaySince(placedMs);
    if (exporter.isOver) wrong.push(`the exporter ended: ${exporter.stderr.slice(-300)}`);
    const peak = exporter.isOver ? NaN : peakMb(exporter.pid);
    await exporter.stop();
    return {
      p99: [p99(before), p99(during), p99(baselineTimes)],
      worstMs: Math.max(...during),
      delayMs,
      peakMb: peak,
      backMs,
      wrong,
    };
  } finally {
    clearInterval(updates);
    adversary.kill('SIGKILL');
    control.close();
    await programs.close();
  }
}
