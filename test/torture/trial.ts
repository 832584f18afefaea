// Types and helpers that all torture trials share.
import type { Random } from '#app/simulator/course.js';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Running } from '../support/processes.js';

/** The time within which the exporter closes connections that have ended. */
const MAX_CLOSING_MS = 5000;
const CLOSING_LOOK_MS = 20;

export interface Given {
  readonly random: Random;
  readonly seed: number;
  /** The approximate duration on two cores. It alone determines the number of trials. */
  readonly minutes: number;
  /** Selects the cases whose names contain this text; all if it is empty. */
  readonly only: string;
  /** Whether to add new damage to the corpus. */
  readonly keeps: boolean;
  readonly log: (line: string) => void;
}

/** Whether to try a case in a mode. A run of less than a minute tries each case in one mode, by turns. */
export const isTried = (
  { minutes, seed, only }: Given,
  mode: 'logical' | 'threaded',
  index: number,
): boolean => minutes >= 1 || only !== '' || (index + seed) % 2 === Number(mode === 'threaded');

export interface Outcome {
  /** The number of faults that were tried. */
  readonly tried: number;
  /** The failures; empty if there are none. */
  readonly wrong: readonly string[];
  readonly figures: string;
}

export interface Trial {
  readonly name: string;
  readonly run: (given: Given) => Promise<Outcome>;
}

/** Resident memory in MB, and the number of open descriptors. */
export interface Usage {
  readonly mb: number;
  readonly files: number;
}

export function usageOf(pid: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  return { mb, files: readdirSync(`/proc/${pid}/fd`).length };
}

/**
 * Checks an exporter at the end of a trial: it must be running, and have no more open descriptors than
 * before. Waits until it has closed connections that have ended.
 * @param slack the number of additional descriptors that are allowed
 */
export async function atEnd(
  exporter: Running,
  before: Usage,
  slack = 0,
): Promise<{ readonly wrong: readonly string[]; readonly after: Usage }> {
  const end = performance.now() + MAX_CLOSING_MS;
  while (!exporter.isOver) {
    const after = usageOf(exporter.pid);
    if (after.files <= before.files + slack) return { wrong: [], after };
    if (performance.now() >= end)
      return { wrong: [`descriptors: ${before.files}, then ${openIn(exporter.pid)}`], after };
    await sleep(CLOSING_LOOK_MS);
  }
  return { wrong: [`the exporter ended:\n${exporter.stderr.slice(-1000)}`], after: before };
}

/** Lists the open descriptors of a process. */
function openIn(pid: number): string {
  const all = readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`));
  return `${all.length}: ${all.join(' ')}`;
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return 'closed meanwhile';
  }
}

export const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ??
  NaN;
