// What a test run leaves behind: temporary files, processes, segments.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const SHM = '/dev/shm';
const PATIENCE_MS = 10_000;

/**
 * The traces that remain after up to ten seconds: a killed process takes a moment to end.
 * Segments of the run have the word `run` in their names.
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

/** A file of a process; '' where it is gone or not ours. */
function text(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
