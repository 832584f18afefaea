// Publishes segments that come and go under discovery. Fails if a target is shown late, twice or too long, or if
// memory, descriptors or threads grow. Usage: discover.js [--minutes 10] [--rate 1000]
// Exits with status 1 if it found a problem.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startExporter } from './exporter.js';
import { agent, scrape } from './scrape.js';
import { memoryOf } from './usage.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string', default: '1000' },
  },
});
const MINUTE_MS = 60_000;
const LIFETIME_MS = 15_000;
const FORGET_SECONDS = 5;
/** The time within which a new segment must be a target, with the time of one check. */
const FOUND_MS = 2000;
/** The time after which a removed segment must not be a target: `forget_after_seconds` and two passes. */
const FORGOTTEN_MS = FORGET_SECONDS * 1000 + 2000;
/** The interval between two checks, which may delay what a check sees. */
const CHECK_MS = 250;
/** Growth of memory, descriptors and threads after the first minute that counts as a leak. */
const MAX_GROWTH = { mb: 1.2, descriptors: 1.2, threads: 1 };

const contextId = `discover${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'shm-discover-'));
const problems = [];
const seen = { latestMs: 0, longestMs: 0, most: 0, published: 0 };
/** For each server key, the time of its publication, its end, and its first appearance as a target. */
const segments = new Map();

const exporter = await startExporter(
  folder,
  [
    `context_id = "${contextId}"`,
    `discover = { native = ["churn*"], forget_after_seconds = ${FORGET_SECONDS}, max_targets = 1000 }`,
  ],
  0,
);
const publishers = fork(new URL('discover-publishers.js', import.meta.url), [
  contextId,
  values.rate,
  String(LIFETIME_MS),
]);
publishers.on('message', ({ published, ended }) => {
  const now = performance.now();
  if (published !== undefined) {
    seen.published++;
    segments.set(published, { published: now, ended: Infinity, found: undefined });
  } else segments.get(ended).ended = now;
});

const usage = () => ({
  mb: memoryOf(exporter.child.pid).own,
  descriptors: readdirSync(`/proc/${exporter.child.pid}/fd`).length,
  threads: readdirSync(`/proc/${exporter.child.pid}/task`).length,
});

const problem = (text) => {
  if (problems.length < 20) console.error(text);
  problems.push(text);
};

/** Compares the targets with the segments. @param askedMs the time before the request */
function compare(targets, askedMs) {
  const shown = new Set();
  for (const key of targets) {
    if (shown.has(key)) problem(`${key} is shown twice`);
    shown.add(key);
    const segment = segments.get(key);
    if (segment === undefined) continue;
    segment.found ??= performance.now();
    const overdueMs = askedMs - segment.ended;
    seen.longestMs = Math.max(seen.longestMs, overdueMs);
    if (overdueMs > FORGOTTEN_MS) problem(`${key} is shown ${overdueMs} ms after its end`);
  }
  seen.most = Math.max(seen.most, shown.size);
  for (const [key, { published, ended, found }] of segments) {
    if (found === undefined && ended === Infinity && askedMs - published > FOUND_MS)
      problem(`${key} is not shown ${askedMs - published} ms after its publication`);
    if (found !== undefined) seen.latestMs = Math.max(seen.latestMs, found - published);
    if (ended !== Infinity && askedMs - ended > 2 * FORGOTTEN_MS) segments.delete(key);
  }
}

let first;
const endMs = performance.now() + Number(values.minutes) * MINUTE_MS;
let nextReportMs = performance.now() + MINUTE_MS;
try {
  while (performance.now() < endMs) {
    const askedMs = performance.now();
    const { body } = await scrape(exporter.port, true, {}, '/-/targets');
    compare(
      JSON.parse(body).map(({ labels }) => labels.server_key),
      askedMs,
    );
    if (performance.now() > nextReportMs) {
      nextReportMs += MINUTE_MS;
      const now = usage();
      first ??= now;
      console.log(JSON.stringify({ ...seen, ...now }));
      for (const [key, factor] of Object.entries(MAX_GROWTH))
        if (now[key] > first[key] * factor)
          problem(`${key} grew from ${first[key]} to ${now[key]}`);
    }
    await sleep(CHECK_MS);
  }
} finally {
  publishers.disconnect();
  await once(publishers, 'exit');
  await exporter.stop();
  agent.destroy();
  rmSync(folder, { recursive: true });
}
console.log(JSON.stringify({ ...seen, problems: problems.length }));
process.exitCode = problems.length > 0 ? 1 : 0;
