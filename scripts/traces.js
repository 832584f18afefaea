// Finds the traces that a test run leaves behind: temporary files, processes and segments.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const SHM = '/dev/shm';
const PATIENCE_MS = 10_000;

/**
 * Returns the traces that remain after at most ten seconds, since a killed process takes a moment to end. `run` is
 * part of the names of the run's segments.
 */
export async function settledTraces(folder, run) {
  const end = performance.now() + PATIENCE_MS;
  let traces = tracesOf(folder, run);
  while (traces.length > 0 && performance.now() < end) {
    await sleep(100);
    traces = tracesOf(folder, run);
  }
  return traces;
}

function tracesOf(folder, run) {
  const files = readdirSync(folder).map((name) => `the file ${join(folder, name)}`);
  const processes = pids()
    .filter((pid) => text(pid, 'environ').split('\0').includes(`TMPDIR=${folder}`))
    .map((pid) => `process ${pid}: ${text(pid, 'cmdline').replaceAll('\0', ' ')}`);
  const segments = readdirSync(SHM)
    .filter((name) => name.includes(run))
    .map((name) => `${SHM}/${name}`);
  return [...files, ...processes, ...segments];
}

const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

/** The text of a /proc file of a process; empty if the process has ended or belongs to another user. */
function text(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
