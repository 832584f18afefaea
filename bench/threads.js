// Measures when threads are worth their cost. A large and a small target share a process; the two execution modes
// take turns.
// Usage: threads.js [series of the large target]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startExporter } from './exporter.js';

const SERIES = process.argv[2] ?? '100000';
const SMALL = '100';
const ROUNDS = 11;
const MODES = ['logical', 'threaded'];
const folder = mkdtempSync(join(tmpdir(), 'shm-threads-'));
const contextId = `threads${process.pid}`;
const script = (name) => new URL(name, import.meta.url);

async function publish(series, serverKey) {
  const child = fork(script('publisher.js'), [contextId, series, serverKey]);
  await once(child, 'message');
  const change = async (share) => {
    child.send({ change: share });
    await once(child, 'message');
  };
  const close = async () => {
    child.disconnect();
    await once(child, 'exit');
  };
  return { change, close };
}

/** Scrapes a target; returns the milliseconds from the request to the last byte, and whether the target is ready. */
function scrape({ port }, agent, key) {
  return new Promise((resolve, reject) => {
    const startedAt = process.hrtime.bigint();
    const path = `/metrics?server_key=${key}`;
    get({ host: '127.0.0.1', port, path, agent }, (response) => {
      response.resume();
      response.on('end', () =>
        resolve({
          ms: Number(process.hrtime.bigint() - startedAt) / 1e6,
          isReady: response.statusCode === 200,
        }),
      );
    }).on('error', reject);
  });
}

const at = (list, q) => list.toSorted((a, b) => a - b)[Math.ceil(q * list.length) - 1];
const rss = ({ child }) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024;

/** Scrapes the small target every few milliseconds while `work` runs. */
async function smallWhile(exporter, agent, work) {
  const times = [];
  let isOver = false;
  const loop = async () => {
    while (!isOver) {
      times.push((await scrape(exporter, agent, '2')).ms);
      await sleep(5);
    }
  };
  const looping = loop();
  await work();
  isOver = true;
  await looping;
  return { median: at(times, 0.5), p99: at(times, 0.99) };
}

async function round(exporter, large) {
  const agent = new Agent({ keepAlive: true });
  await large.change(1);
  await sleep(20);
  const alone = await scrape(exporter, agent, '1');
  const idle = await smallWhile(exporter, agent, () => sleep(300));
  const beside = await smallWhile(exporter, agent, async () => {
    for (let i = 0; i < 8; i++) {
      await large.change(1);
      await scrape(exporter, agent, '1');
    }
  });
  agent.destroy();
  return { alone: alone.ms, idle, beside };
}

/** Scrapes the small target while the publisher of the large one restarts and the exporter binds its tree. */
async function binding(exporter) {
  const agent = new Agent({ keepAlive: true });
  const large = await publish(SERIES, '1');
  const bound = await smallWhile(exporter, agent, async () => {
    while (!(await scrape(exporter, agent, '1')).isReady) await sleep(50);
  });
  agent.destroy();
  await large.close();
  return bound;
}

const lines = (mode) => [
  `context_id = "${contextId}"`,
  'render_min_interval_ms = 1',
  'target_workers = 2',
  'worker_assignment_mode = "least_loaded"',
  `worker_execution_mode = "${mode}"`,
  '[[targets]]\napp = "bench"\nserver_key = "1"',
  '[[targets]]\napp = "bench"\nserver_key = "2"',
];

const exporters = {};
let large = await publish(SERIES, '1');
const small = await publish(SMALL, '2');
try {
  for (const mode of MODES) exporters[mode] = await startExporter(folder, lines(mode), 2);
  const found = { logical: [], threaded: [] };
  for (let i = 0; i < ROUNDS; i++)
    for (const mode of MODES) found[mode].push(await round(exporters[mode], large));
  const memory = Object.fromEntries(MODES.map((mode) => [mode, rss(exporters[mode])]));
  await large.close();
  large = undefined;
  for (const mode of MODES)
    while ((await scrape(exporters[mode], new Agent(), '1')).isReady) await sleep(50);
  const bound = {};
  for (const mode of MODES) bound[mode] = await binding(exporters[mode]);
  const median = (mode, of) => at(found[mode].map(of), 0.5);
  const rows = MODES.map((mode) => ({
    mode,
    'large, all changed (ms)': median(mode, ({ alone }) => alone),
    'small alone (ms)': median(mode, ({ idle }) => idle.median),
    'small beside scrapes of large, p99': median(mode, ({ beside }) => beside.p99),
    'small while large is bound, p99': bound[mode].p99,
    'resident (MB)': memory[mode],
  }));
  console.table(
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([k, v]) => [k, typeof v === 'number' ? Number(v.toFixed(2)) : v]),
      ),
    ),
  );
  writeFileSync(script('threads.json'), `${JSON.stringify({ series: SERIES, rows }, null, 2)}\n`);
} finally {
  for (const exporter of Object.values(exporters)) await exporter.stop();
  await large?.close();
  await small.close();
  rmSync(folder, { recursive: true, force: true });
}
