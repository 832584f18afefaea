// Runs four targets on each of many publishers for minutes. Fails on a wrong value, lost readiness or growing memory.
// Usage: soak.js [--seconds 300] [--mode logical|threaded] [--assignment hash|least_loaded] [--publishers 50]
//   [--lag 6]     the maximum age of a page in ticks: covers the interval of renders and the publisher's own pace
//   [--reload 0]  seconds between reloads that give every target a new definition; 0 means never
// Exits with status 1 if it found a problem.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startExporter } from './exporter.js';
import { fetchPage } from './page.js';
import { APPS, ROTATION, TICKS, newestAt } from './soak-publishers.js';

const option = (value) => ({ type: 'string', default: value });
const { values } = parseArgs({
  options: {
    seconds: option('300'),
    mode: option('logical'),
    assignment: option('hash'),
    publishers: option('50'),
    lag: option('6'),
    reload: option('0'),
  },
});
const { mode, assignment } = values;
const [seconds, publisherCount, maxLag, reloadSeconds] = [
  values.seconds,
  values.publishers,
  values.lag,
  values.reload,
].map(Number);
const SCRAPERS = 4;
/** The pause of each scraper between two scrapes; together the scrapers make about 50 scrapes a second. */
const REST_MS = 60;
const folder = mkdtempSync(join(tmpdir(), 'shm-soak-'));
const contextId = `soak${process.pid}`;
const targets = Array.from({ length: publisherCount }, (_, index) =>
  APPS.map((app) => ({ app, key: String(index + 1), clock: 0 })),
).flat();
const wrong = [];
const memory = [];
let scrapes = 0;
let series = 0;
let reloads = 0;

const lines = [
  `context_id = "${contextId}"`,
  'target_workers = 4',
  `worker_execution_mode = "${mode}"`,
  `worker_assignment_mode = "${assignment}"`,
  'worker_rebalance_enabled = true',
  '[[metric_scopes]]\nname = "values"\nmetrics = ["soak*_item_value", "soak*_root_*"]',
];
const targetLines = (timeZone) =>
  targets.map(
    ({ app, key }) =>
      `[[targets]]\napp = "${app}"\nserver_key = "${key}"\npublisher_time_zone = "${timeZone}"`,
  );

/** Finds values of a page that contradict each other or the values of the publisher. */
function faults(text, { app, key, clock: before }, published, isScoped) {
  const found = [];
  const at = (name) =>
    Number(new RegExp(`^${app}_root_${name}\\{.*\\} (\\d+)$`, 'm').exec(text)?.[1]);
  const clock = at('clock');
  if (!(clock >= before)) found.push(`the clock went from ${before} to ${clock}`);
  if (clock < published - maxLag) found.push(`clock ${clock}, published was ${published}`);
  let items = 0;
  let newest = 0;
  for (const [, item, value] of text.matchAll(/_item_value\{object="item(\d+)"\} (\d+)/g)) {
    items++;
    newest = Math.max(newest, Number(item));
    const tick = value % TICKS;
    if (Math.floor(value / TICKS) !== Number(item)) found.push(`item ${item} has value ${value}`);
    if (tick > clock + maxLag || tick < clock - ROTATION - maxLag)
      found.push(`item ${item} is of tick ${tick}, the clock of ${clock}`);
  }
  for (const [, own] of text.matchAll(/_item_key\{object="item\d+"\} (\d+)/g))
    if (own !== key) found.push(`an item of key ${own} on the page of ${key}`);
  const least = newestAt(app, key, published - maxLag);
  if (newest < least) found.push(`the newest item is ${newest}, published was ${least}`);
  // Objects that are added or removed after the request may be missing from the page, or still on it. A page may
  // also be rendered after a removal and before the addition that follows.
  const since = newestAt(app, key, clock + 1) - least;
  if (Math.abs(items - at('count')) > since)
    found.push(`${items} items, published are ${at('count')}, ${since} of them since the request`);
  if (isScoped === text.includes('_item_key')) found.push('the scope is not kept');
  if (!isScoped && !text.includes(`shm_exporter_target_info{app="${app}",server_key="${key}"`))
    found.push('the page is of another target');
  return { clock, items, found };
}

async function scrape(port, published) {
  const target = targets[Math.floor(Math.random() * targets.length)];
  const isScoped = Math.random() < 0.25;
  const query = `server_key=${target.key}&app=${target.app}&instance=host.1.${target.app}`;
  const { status, text } = await fetchPage(
    port,
    `/metrics${isScoped ? '/values' : ''}?${query}`,
    Math.random() < 0.5 ? 'gzip' : 'identity',
  );
  const name = `${target.app} on ${target.key}`;
  scrapes++;
  if (status !== 200) {
    wrong.push(`${name}: status ${status}: ${text.trim()}`);
    return;
  }
  const { clock, items, found } = faults(text, target, published, isScoped);
  // This scrape may have begun before one that has already ended, so `clock` may be lower than `target.clock`.
  target.clock = Math.max(target.clock, clock) - maxLag;
  series += items;
  wrong.push(...found.map((what) => `${name}: ${what}`));
}

const rss = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

const publishers = fork(new URL('soak-publishers.js', import.meta.url), [
  contextId,
  String(publisherCount),
]);
let tick = 0;
publishers.on('message', (message) => (tick = message.tick));
await once(publishers, 'message');
const exporter = await startExporter(folder, [...lines, ...targetLines('UTC')], targets.length);
// Ignore warnings before this point: on a busy machine targets may take a long time to become ready.
const startLog = exporter.log.length;
try {
  const { port } = exporter;
  const end = Date.now() + seconds * 1000;
  const scraper = async () => {
    while (Date.now() < end && wrong.length < 20) {
      await scrape(port, tick);
      await sleep(REST_MS);
    }
  };
  const watch = async () => {
    while (Date.now() < end && wrong.length < 20) {
      memory.push(rss(exporter.child.pid));
      await sleep(1000);
    }
  };
  const reloader = async () => {
    while (reloadSeconds > 0 && Date.now() + reloadSeconds * 1000 < end && wrong.length < 20) {
      await sleep(reloadSeconds * 1000);
      exporter.reload([...lines, ...targetLines(reloads++ % 2 === 0 ? 'Asia/Tokyo' : 'UTC')]);
    }
  };
  await Promise.all([watch(), reloader(), ...Array.from({ length: SCRAPERS }, scraper)]);
  const { text } = await fetchPage(port, '/-/metrics');
  const moves = /^shm_exporter_worker_rebalance_total\{.*\} (\d+)$/m.exec(text)?.[1];
  const cpu = /^process_cpu_seconds_total (\S+)/m.exec(text)?.[1];
  const eighth = Math.max(1, Math.floor(memory.length / 8));
  const eighths = Array.from({ length: 8 }, (_, i) =>
    median(memory.slice(i * eighth, (i + 1) * eighth)),
  );
  const [early, last] = [eighths[2], eighths[7]];
  // Skip the first quarter: V8 still adjusts the size of the heap.
  if (memory.length >= 120 && last > early * (memory.length > 2400 ? 1.05 : 1.1))
    wrong.push(`memory grew from ${early} to ${last} KiB`);
  const summary = {
    mode,
    assignment,
    targets: targets.length,
    seconds,
    scrapes,
    series,
    moves,
    reloads,
    cpu,
    eighths,
  };
  console.log(JSON.stringify(summary));
} finally {
  await exporter.stop();
  publishers.disconnect();
  await once(publishers, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
const unexpected = exporter.log
  .slice(startLog)
  .split('\n')
  .filter((line) => / (warning|error) /.test(line));
for (const line of [...wrong.slice(0, 20), ...unexpected.slice(0, 20)]) console.log(line);
process.exitCode = wrong.length + unexpected.length === 0 ? 0 : 1;
