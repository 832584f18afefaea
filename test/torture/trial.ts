// What all trials share.
import type { Random } from '#app/simulator/random.js';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

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
export function usageOf(pid: number): { readonly mb: number; readonly files: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  return { mb, files: readdirSync(`/proc/${pid}/fd`).length };
}

/**
 * Waits until a process has no more descriptors open than it may: a connection that ends is open for a moment.
 * What is wrong when that never comes.
 */
export async function excessOfDescriptors(
  pid: number,
  before: number,
  slack = 0,
): Promise<string[]> {
  const end = performance.now() + MAX_CLOSING_MS;
  while (performance.now() < end) {
    if (usageOf(pid).files <= before + slack) return [];
    await sleep(CLOSING_LOOK_MS);
  }
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`));
  return [`descriptors: ${before}, then ${open.length}: ${open.join(' ')}`];
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
