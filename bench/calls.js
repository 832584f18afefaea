// How often JavaScript functions are called in a scrape on a connection of its own: code that is compiled and
// not optimized yet takes some 150 ns for each call, so their number tells what a scrape after a rest costs.
// Usage: calls.js [series [share of the values that change [gzip]]]. LISTED is how many functions it lists.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeCatalogue } from './catalogue.js';
import { startExporter } from './exporter.js';
import { agent, scrape } from './scrape.js';

const [series = 10_000, share = 0] = process.argv.slice(2, 4).map(Number);
const asksGzip = process.argv[4] === 'gzip';
const [FIRST_ROUNDS, ROUNDS, LISTED] = [20, 60, Number(process.env.LISTED ?? 40)];
/** Single modules, so that functions have their names and files. */
const dist = new URL('../dist/exporter', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'shm-calls-'));
const counts = join(folder, 'calls.json');

const contextId = `calls${process.pid}`;
const publisher = fork(new URL('publisher.js', import.meta.url), [contextId, String(series)]);
let exporter;
try {
  await once(publisher, 'message');
  const counter = new URL(`call-counter.js?file=${counts}`, import.meta.url).href;
  exporter = await startExporter(
    folder,
    [
      `context_id = "${contextId}"`,
      'app = "bench"',
      'server_keys = ["1"]',
      'render_min_interval_ms = 1',
      `catalogue_files = ["${writeCatalogue(folder)}"]`,
    ],
    1,
    dist,
    [`--import=${counter}`],
  );
  await rounds(FIRST_ROUNDS);
  await taken();
  await rounds(ROUNDS);
  print(await taken());
} finally {
  agent.destroy();
  exporter?.child.removeAllListeners('exit');
  await exporter?.stop();
  publisher.disconnect();
  rmSync(folder, { recursive: true, force: true });
}

async function rounds(count) {
  for (let round = 0; round < count; round++) {
    publisher.send({ change: share });
    await once(publisher, 'message');
    agent.destroy();
    await scrape(exporter.port, false, asksGzip ? { 'accept-encoding': 'gzip' } : {});
  }
}

async function taken() {
  rmSync(counts, { force: true });
  exporter.child.kill('SIGUSR2');
  for (let tries = 0; !existsSync(counts); tries++) {
    if (tries === 100) throw new Error('No counts after 10 s');
    await sleep(100);
  }
  return JSON.parse(readFileSync(counts, 'utf8'));
}

function print(calls) {
  const places = new Map();
  for (const { url, count } of calls) {
    const place = placeOf(url);
    places.set(place, (places.get(place) ?? 0) + count / ROUNDS);
  }
  const row = (count, name) => console.log(`${count.toFixed(1).padStart(9)}  ${name}`);
  console.log(`${series} series, ${share * 100} % changed, ${asksGzip ? 'gzip' : 'plain'}`);
  row(calls.reduce((sum, { count }) => sum + count, 0) / ROUNDS, 'calls a scrape, of these in');
  for (const [place, count] of [...places].toSorted(([, a], [, b]) => b - a)) row(count, place);
  console.log('most often:');
  for (const { url, name, at, count } of calls
    .toSorted((a, b) => b.count - a.count)
    .slice(0, LISTED))
    row(count / ROUNDS, `${name || `(${at})`}  ${url.replace(/^.*\/(dist|node_modules)\//, '')}`);
}

function placeOf(url) {
  if (url.startsWith('node:')) return 'Node';
  const [, name] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  return name ?? 'the exporter';
}
