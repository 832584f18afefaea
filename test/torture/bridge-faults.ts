// Runs the bridge for minutes with a component that has every kind of fault.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PROJECT } from '../support/processes.js';
import type { Given, Outcome } from './trial.js';

/** The duration of this trial, in seconds per minute of the whole run. */
const SECONDS_A_MINUTE = 12;
const LEAST_SECONDS = 10;

interface Tally {
  readonly scrapes: number;
  readonly faults: number;
  readonly restarts: number;
  /** Resident memory of the bridge in KiB: its minima in the second and in the last quarter of the trial. */
  readonly second?: number;
  readonly last?: number;
}

export async function runBridgeFaults({ seed, minutes }: Given): Promise<Outcome> {
  const seconds = Math.max(LEAST_SECONDS, Math.round(SECONDS_A_MINUTE * minutes));
  const script = join(PROJECT, 'test/torture/failing-component.js');
  const child = spawn(process.execPath, [script, String(seconds), String(seed)]);
  let told = '';
  let complaints = '';
  child.stdout.on('data', (chunk: Buffer) => (told += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  const [first = '', ...wrong] = told.trimEnd().split('\n');
  if (status !== 0 && wrong.length === 0)
    return { tried: 0, wrong: [`status ${status}: ${complaints}`], figures: first };
  const { scrapes, faults, restarts, second = NaN, last = NaN } = JSON.parse(first) as Tally;
  return {
    tried: faults,
    wrong,
    figures: `${scrapes} scrapes in ${seconds} s, ${restarts} restarts of the component; ${(second / 1024).toFixed(0)} to ${(last / 1024).toFixed(0)} MB`,
  };
}
