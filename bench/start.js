// Measures the time from the start of the process until its target is ready. With a checkout of another version,
// the two versions take turns, so that noise of the machine affects both alike. Usage: start.js [series] [starts]
// [CHECKOUT]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { writeCatalogue } from './catalogue.js';
import { startExporter } from './exporter.js';
import { cpuOf, memoryOf } from './usage.js';

const [series = '100000', starts = '7', checkout] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'shm-start-'));
const contextId = `start${process.pid}`;
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const builds = [
  { name: 'this', dist: undefined, taken: [] },
  ...(checkout === undefined ? [] : [{ name: 'other', dist: join(checkout, 'dist'), taken: [] }]),
];

const publisher = fork(new URL('publisher.js', import.meta.url), [contextId, series]);
try {
  await once(publisher, 'message');
  const lines = [
    `context_id = "${contextId}"`,
    'app = "bench"',
    'server_keys = ["1"]',
    `catalogue_files = ["${writeCatalogue(folder)}"]`,
  ];
  for (let start = 0; start < Number(starts); start++)
    for (const { dist, taken } of builds) {
      const startedAt = performance.now();
      const exporter = await startExporter(folder, lines, 1, dist);
      const ms = performance.now() - startedAt;
      const { pid } = exporter.child;
      taken.push({ ms, cpuMs: cpuOf(pid) * 1000, mb: memoryOf(pid).own });
      exporter.child.removeAllListeners('exit');
      await exporter.stop();
    }
  const rows = builds.map(({ name, taken }) => {
    const of = (what) => Math.round(median(taken.map((each) => each[what])));
    return [
      name,
      { 'ready after (ms)': of('ms'), 'processor time (ms)': of('cpuMs'), MB: of('mb') },
    ];
  });
  console.log(`${series} series, medians of ${starts} starts`);
  console.table(Object.fromEntries(rows));
} finally {
  publisher.disconnect();
  await once(publisher, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
