// What a test run leaves behind: temporary files, processes, segments that nobody publishes any more.
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const SHM = '/dev/shm';
const PATIENCE_MS = 10_000;

/** Names in shared memory. */
export const segmentNames = () => new Set(readdirSync(SHM));

/** Traces that are still there after a while: a process that was killed takes a moment to go. */
export async function settledTraces(folder, before) {
  const end = performance.now() + PATIENCE_MS;
  let traces = tracesOf(folder, before);
  while (traces.length > 0 && performance.now() < end) {
    await sleep(100);
    traces = tracesOf(folder, before);
  }
  return traces;
}

function tracesOf(folder, before) {
  const files = readdirSync(folder).map((name) => `the file ${join(folder, name)}`);
  const processes = pids()
    .filter((pid) => text(pid, 'environ').split('\0').includes(`TMPDIR=${folder}`))
    .map((pid) => `process ${pid}: ${text(pid, 'cmdline').replaceAll('\0', ' ')}`);
  const added = [...segmentNames()].filter((name) => !before.has(name));
  // Another run on this machine may have made it, and holds it then.
  const held = added.length === 0 ? new Set() : heldSegments();
  const segments = added.filter((name) => !held.has(name)).map((name) => `${SHM}/${name}`);
  return [...files, ...processes, ...segments];
}

const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

/** Names that some process has mapped or open. */
function heldSegments() {
  const mapped = pids().flatMap((pid) =>
    [...text(pid, 'maps').matchAll(/\/dev\/shm\/(.+)$/gm)].map(([, name]) => name),
  );
  const opened = pids().flatMap(openNames);
  return new Set([...mapped, ...opened]);
}

function openNames(pid) {
  return attempt([], () =>
    readdirSync(`/proc/${pid}/fd`)
      .map((fd) => attempt('', () => readlinkSync(`/proc/${pid}/fd/${fd}`)))
      .filter((path) => path.startsWith(`${SHM}/`))
      .map((path) => path.slice(SHM.length + 1)),
  );
}

/** A file of a process; '' where it is gone or not ours. */
const text = (pid, file) => attempt('', () => readFileSync(`/proc/${pid}/${file}`, 'utf8'));

function attempt(otherwise, read) {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
