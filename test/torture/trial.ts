// Types and helpers that all torture trials share.
import type { Random } from '#app/simulator/course.js';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Running } from '../support/processes.js';

/** A connection that ended is closed so soon. */
const MAX_CLOSING_MS = 5000;
const CLOSING_LOOK_MS = 20;

export interface Given {
  readonly random: Random;
  readonly seed: number;
  /** How long it is to take on two cores, about; how much is tried depends on it alone. */
  readonly minutes: number;
  /** Of the parts that have cases, those whose names hold it; all, if it is empty. */
  readonly only: string;
  /** Whether what was found is added to the corpus of damages. */
  readonly keeps: boolean;
  readonly log: (line: string) => void;
}

export interface Outcome {
  /** How many faults were tried. */
  readonly tried: number;
  /** What must not be; empty if all went well. */
  readonly wrong: readonly string[];
  readonly figures: string;
}

export interface Trial {
  readonly name: string;
  readonly run: (given: Given) => Promise<Outcome>;
}

/** Resident memory in MB, and open descriptors. */
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
 * How an exporter stands at the end of a trial: what is wrong if it ended by itself, or goes on having more
 * descriptors open than before. A connection that ends is open for a moment, so that is waited for.
 * @param slack so many more may be open
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

/** How many descriptors a process has open, and of what. */
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
