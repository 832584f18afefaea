// What a page of very many families costs: the same series with a family each, and in few families, by turns.
// Usage: families.js [series] [checkout of another build]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Publisher } from '../dist/native/publisher/publisher.js';
import { startExporter } from './exporter.js';
import { scrape } from './scrape.js';
import { cpuOf } from './usage.js';

const SERIES = Number(process.argv[2] ?? 10_000);
const other = process.argv[3];
const ROUNDS = 100;
const WARM_UP = 10;
const REST_MS = 10;
/** Of the values, in each round. */
const CHANGED = 0.01;
const contextId = `families${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'shm-families-'));

/** As many variables, `each` on an object: objects share their families. */
function publish(serverKey, each) {
  const publisher = new Publisher({
    ...{ contextId, serverKey, pid: process.pid, heartbeatMs: 0 },
    realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
    capacity: { records: 2 * SERIES + 10, slots: 2 * SERIES + 10, stringBytes: 1 << 24 },
  });
  const root = publisher.addRoot('bench.1.shop', 'Shop');
  const values = Array.from({ length: SERIES / each }, (_, object) => {
    const owner = publisher.addObject(root, `bench.1.shop.till${object}`, 'Till');
    return Array.from({ length: each }, (_, index) =>
      publisher.addVariable(owner, `value${index}`, 'u64'),
    );
  }).flat();
  for (const value of values) value.set(0);
  publisher.place();
  let round = 0;
  const change = () => {
    round++;
    for (let i = round % (1 / CHANGED); i < SERIES; i += 1 / CHANGED) values[i].set(round);
    publisher.notify();
  };
  return { change, close: () => publisher.close() };
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

async function measure({ exporter, change }) {
  const times = [];
  for (let round = 0; round < WARM_UP; round++) await scrape(exporter.port);
  const before = cpuOf(exporter.child.pid);
  for (let round = 1; round <= ROUNDS; round++) {
    change();
    times.push((await scrape(exporter.port)).ms);
    await sleep(REST_MS);
  }
  const cpuMs = ((cpuOf(exporter.child.pid) - before) * 1000) / ROUNDS;
  return { ms: median(times), cpuMs };
}

const shapes = { 'a family each': SERIES, '100 families': 100 };
const builds = { this: undefined, ...(other !== undefined && { other: join(other, 'dist') }) };
const rows = [];
for (const [shape, each] of Object.entries(shapes)) {
  const published = publish(String(each), each);
  for (const mode of ['logical', 'threaded'])
    for (const [build, dist] of Object.entries(builds)) {
      const lines = [
        `context_id = "${contextId}"`,
        `app = "shop"\nserver_keys = ["${each}"]`,
        `render_min_interval_ms = 1\nworker_execution_mode = "${mode}"`,
      ];
      const exporter = await startExporter(folder, lines, 1, dist);
      const { ms, cpuMs } = await measure({ exporter, change: published.change });
      rows.push({ shape, mode, build, ms: +ms.toFixed(1), 'cpu ms': +cpuMs.toFixed(1) });
      await exporter.stop();
    }
  published.close();
}
rmSync(folder, { recursive: true });
console.log(`${SERIES} series, ${CHANGED * 100} % changed; a scrape, medians of ${ROUNDS}`);
console.table(rows);
process.exit(0);
