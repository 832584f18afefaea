// Measures the cost of the bridge for a large tree, and its effect on the exporter that serves the tree.
// Usage: bridge.js [seconds] [objects] [variables] [ways]; PROFILE=<folder> keeps CPU profiles of the bridge.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { bridgeTable } from './bridge-table.js';
import { startExporter } from './exporter.js';
import { cpuOf, memoryOf } from './usage.js';

const [seconds = '60', objects = '5000', variables = '100000', ways = 'http,deflate,https'] =
  process.argv.slice(2);
const INTERVAL_MS = 5000;
/** How long the page is scraped before the bridge starts. */
const ALONE_S = 20;
const SETTLE_MS = 2 * INTERVAL_MS;
const APP = 'bench';
/** Each target: its application and server key. */
const BRIDGED = [APP, '1'];
const OWN = ['shm_bridge', '1'];
const DIRECT = [APP, '2'];
const isLarge = Number(variables) > 100_000;
const folder = mkdtempSync(join(tmpdir(), 'shm-bridge-'));
const contextId = `bridge${process.pid}`;
const script = (name) => new URL(name, import.meta.url).pathname;
const agent = new Agent({ keepAlive: true });
const started = [];

async function startTree(kind, ...more) {
  const child = fork(script('component.js'), [kind, objects, variables, ...more]);
  const stop = async () => {
    if (child.exitCode !== null) return;
    child.disconnect();
    await once(child, 'exit');
  };
  started.push(stop);
  const [{ url }] = await once(child, 'message');
  const step = async () => {
    child.send({});
    await once(child, 'message');
  };
  return { url, step, stop };
}

function startBridge(url, way) {
  const lines = [
    `context_id = "${contextId}"`,
    `[[components]]\nname = "bench"\nurl = "${url}"\nserver_key = "${BRIDGED[1]}"`,
    `interval_ms = ${INTERVAL_MS}`,
    `deflate = "${way === 'deflate' ? 'always' : 'never'}"`,
    ...(way === 'https' ? [`ca_file = "${script('../test/support/tls/component.cert.pem')}"`] : []),
    // The default timeouts are too short for the transfer of such a large body.
    ...(isLarge ? ['request_timeout_ms = 60000', 'stale_after = 100', 'lost_after = 1000'] : []),
  ];
  const config = join(folder, `${way}.toml`);
  writeFileSync(config, `${lines.join('\n')}\n`);
  const { PROFILE } = process.env;
  const profiling = PROFILE === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${PROFILE}`];
  const options = [...profiling, '--import', script('loop-watch.js')];
  const child = spawn(
    process.execPath,
    [...options, script('../dist/bin/shm_bridge.js'), '--config', config],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  );
  const bridge = { child, log: '' };
  child.stderr.on('data', (chunk) => (bridge.log += chunk));
  bridge.polls = new Promise((resolve) => {
    child.stderr.on('data', () => / polling http/.test(bridge.log) && resolve());
  });
  bridge.holdMs = async () => {
    child.send({});
    return (await once(child, 'message'))[0].holdMs;
  };
  bridge.stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  started.push(bridge.stop);
  return bridge;
}

async function startOur(wanted) {
  const targets = wanted.map(
    ([app, key]) => `[[targets]]\napp = "${app}"\nserver_key = "${key}"\n`,
  );
  const exporter = await startExporter(
    folder,
    [`context_id = "${contextId}"`, 'render_min_interval_ms = 1', ...targets],
    wanted.length,
  );
  started.push(exporter.stop);
  return exporter;
}

/** One scrape: milliseconds from the request to the last byte. */
function scrape({ port }, [app, key], wantsText = false) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    get(
      { host: '127.0.0.1', port, path: `/metrics?app=${app}&server_key=${key}`, agent },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => wantsText && chunks.push(chunk));
        response.on('end', () => {
          const ms = performance.now() - startedAt;
          resolve({ ms, status: response.statusCode, text: Buffer.concat(chunks).toString() });
        });
      },
    ).on('error', reject);
  });
}

/** Reads the bridge's own metrics. The returned function gives the value of a metric by name. */
async function ownValues(exporter) {
  const { text } = await scrape(exporter, OWN, true);
  return (name) =>
    Number(new RegExp(`^shm_bridge_component_${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
}

/** Scrapes once a second at a random moment, so that scrapes do not synchronize with polls. */
async function scrapeFor(exporter, target, endMs, times) {
  while (Date.now() < endMs) {
    const nextMs = Date.now() + 1000;
    await sleep(Math.random() * 900);
    const { ms, status } = await scrape(exporter, target);
    if (status !== 200) throw new Error(`status ${status}`);
    times.push(ms);
    await sleep(Math.max(0, nextMs - Date.now()));
  }
}

async function stepFor(trees, endMs) {
  while (Date.now() < endMs) {
    await Promise.all(trees.map(({ step }) => step()));
    await sleep(INTERVAL_MS);
  }
}

/** Records the bridge's figures once per poll interval. */
async function watchFor(bridge, exporter, endMs, seen) {
  while (Date.now() < endMs) {
    await sleep(INTERVAL_MS);
    const own = await ownValues(exporter);
    seen.push({
      memory: memoryOf(bridge.child.pid),
      holdMs: await bridge.holdMs(),
      pollMs: own('last_poll_duration_seconds') * 1000,
      storeMs: own('last_store_duration_seconds') * 1000,
    });
  }
}

const at = (list, q) => list.toSorted((a, b) => a - b)[Math.ceil(q * list.length) - 1];
const spread = (list) => ({ median: at(list, 0.5), most: at(list, 1) });
const latency = (times) => ({ p50: at(times, 0.5), p99: at(times, 0.99) });

/** The lines of the application's series, sorted. */
async function seriesOf(exporter, target) {
  const { text } = await scrape(exporter, target, true);
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${APP}_`))
    .sort();
}

async function measure(way) {
  const served = await startTree('served', ...(way === 'https' ? ['tls'] : []));
  const published = await startTree('published', contextId, DIRECT[1]);
  const trees = [served, published];
  const beside = await startOur([DIRECT]);
  const times = { alone: [], direct: [], bridged: [] };
  const aloneEnd = Date.now() + ALONE_S * 1000;
  await Promise.all([stepFor(trees, aloneEnd), scrapeFor(beside, DIRECT, aloneEnd, times.alone)]);

  const bridge = startBridge(served.url, way);
  await bridge.polls;
  await bridge.holdMs();
  const cpuAtStart = cpuOf(bridge.child.pid);
  const exporter = await startOur([OWN, BRIDGED]);
  const own = await ownValues(exporter);
  if (own('polls_total') !== 1) console.log(`${own('polls_total')} polls before all is ready`);
  const first = {
    pollMs: own('last_poll_duration_seconds') * 1000,
    storeMs: own('last_store_duration_seconds') * 1000,
    holdMs: await bridge.holdMs(),
    cpuMs: (cpuOf(bridge.child.pid) - cpuAtStart) * 1000,
    stalled: /stalled|not beaten/.test(exporter.log),
  };
  await sleep(INTERVAL_MS);
  await bridge.holdMs();

  const seen = [];
  const before = await ownValues(exporter);
  const cpuBefore = cpuOf(bridge.child.pid);
  const startMs = Date.now();
  const endMs = startMs + Number(seconds) * 1000;
  await Promise.all([
    stepFor(trees, endMs),
    scrapeFor(exporter, BRIDGED, endMs, times.bridged),
    scrapeFor(beside, DIRECT, endMs, times.direct),
    watchFor(bridge, exporter, endMs, seen),
  ]);
  const cpu = (cpuOf(bridge.child.pid) - cpuBefore) / ((Date.now() - startMs) / 1000);
  const after = await ownValues(exporter);
  const grown = (name) => after(name) - before(name);
  const polls = grown('polls_total');
  await sleep(SETTLE_MS);
  const [bridged, direct] = [await seriesOf(exporter, BRIDGED), await seriesOf(beside, DIRECT)];
  const wrong = bridged.filter((line, index) => line !== direct[index]).length;
  for (const stop of started.splice(0).reverse()) await stop();
  return {
    way,
    series: bridged.length,
    wrong,
    polls,
    bodyMb: after('last_body_bytes') / 1e6,
    receivedMb: grown('received_bytes_total') / polls / 1e6,
    changed: grown('changed_values_total') / polls,
    added: grown('added_objects_total') / polls,
    cpu,
    pollMs: spread(seen.map(({ pollMs }) => pollMs)),
    storeMs: spread(seen.map(({ storeMs }) => storeMs)),
    holdMs: spread(seen.map(({ holdMs }) => holdMs)),
    memory: { start: seen[0].memory, end: seen.at(-1).memory },
    first,
    alone: latency(times.alone),
    direct: latency(times.direct),
    bridged: latency(times.bridged),
    log: bridge.log.split('\n').filter((line) => / (warning|error) /.test(line)),
  };
}

try {
  const rows = [];
  for (const way of ways.split(',')) rows.push(await measure(way));
  console.log(
    `${objects} objects, ${variables} variables, a poll every ${INTERVAL_MS} ms, ${seconds} s each`,
  );
  for (const line of bridgeTable(rows)) console.log(line);
  for (const { log, first } of rows) {
    if (first.stalled) console.log('the exporter called the publisher stalled at the first poll');
    for (const line of log) console.log(line);
  }
  const machine = { node: process.version, cpu: cpus()[0].model, cores: cpus().length };
  const results = { objects, variables, seconds, ...machine, rows };
  writeFileSync(script('bridge.json'), `${JSON.stringify(results, undefined, 2)}\n`);
  if (rows.some(({ wrong, first }) => wrong > 0 || first.stalled)) process.exitCode = 1;
} finally {
  for (const stop of started.reverse()) await stop();
  agent.destroy();
  rmSync(folder, { recursive: true, force: true });
}
