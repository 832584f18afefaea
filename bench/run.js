// Compares the scrape times of the exporter, of prom-client and of a server that only sends the bytes. They take
// turns in each round, so that noise of the machine affects all alike. Usage: run.js [series]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateRaw, gunzipSync } from 'node:zlib';
import { promisify } from 'node:util';
import { writeCatalogue } from './catalogue.js';
import { startExporter } from './exporter.js';
import { agent, scrape } from './scrape.js';
import { FAMILIES, entityLabels, nameOf } from './workload.js';

const SERIES = Number(process.argv[2] ?? 100_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const SHARES = [0, 0.01, 1];
const SETTLE_MS = 20;
const folder = mkdtempSync(join(tmpdir(), 'shm-bench-'));
const contextId = `bench${process.pid}`;
const script = (name) => new URL(name, import.meta.url);
const children = [];

/** Starts a peer and waits for its first message. */
async function start(name, args) {
  const child = fork(script(name), args);
  children.push(child);
  const [message] = await once(child, 'message');
  return { child, port: message.port };
}

async function tell(child, message) {
  child.send(message);
  return (await once(child, 'message'))[0];
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

async function startOurs() {
  const catalogue = writeCatalogue(folder);
  const exporter = await startExporter(folder, [
    `context_id = "${contextId}"`,
    'app = "bench"',
    'server_keys = ["1"]',
    // The pause between scrapes is longer than this, so each scrape renders the changed values.
    'render_min_interval_ms = 1',
    `catalogue_files = ["${catalogue}"]`,
  ]);
  children.push(exporter.child);
  return exporter;
}

/** Checks that every series of the page has the value that the publisher stored. */
function check(body, truth) {
  const entities = truth.length / FAMILIES;
  const values = new Map();
  for (const line of body.toString('utf8').split('\n')) {
    if (!line.startsWith('bench_')) continue;
    const blank = line.lastIndexOf(' ');
    values.set(line.slice(0, blank), Number(line.slice(blank + 1)));
  }
  if (values.size !== truth.length) throw new Error(`${values.size} series, not ${truth.length}`);
  for (let i = 0; i < truth.length; i++) {
    const labels = Object.entries(entityLabels(i % entities));
    const text = labels.map(([key, value]) => `${key}="${value.replaceAll('.', '_')}"`).join(',');
    const series = `${nameOf(Math.floor(i / entities))}{${text}}`;
    if (values.get(series) !== truth[i])
      throw new Error(`${series} is ${values.get(series)}, not ${truth[i]}`);
  }
}

/** Peak resident memory of a process, in MB. */
const peakMb = ({ pid }) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Compares scrapes with and without gzip, in alternation. */
async function zipped(port, teller) {
  const wishes = [{}, { 'accept-encoding': 'gzip' }];
  const times = SHARES.map(() => wishes.map(() => []));
  let bytes = 0;
  for (let round = -2; round < ROUNDS; round++)
    for (const [index, share] of SHARES.entries())
      for (let turn = 0; turn < wishes.length; turn++) {
        const which = (turn + round + 2) % wishes.length;
        // Request this encoding before the change, too: if no value changes, the exporter then still has the page.
        await scrape(port, false, wishes[which]);
        await tell(teller, { change: share });
        await sleep(SETTLE_MS);
        const answer = await scrape(port, false, wishes[which]);
        if (which === 1) bytes = answer.bytes;
        if (round >= 0) times[index][which].push(answer.ms);
      }
  const shares = SHARES.map((share, index) => {
    const [plainMs, gzipMs] = times[index].map(median);
    return { share, plainMs, gzipMs, timesPlain: gzipMs / plainMs };
  });
  return { bytes, shares };
}

/** Compares levels of zlib, in alternation: the time to compress a page, and the resulting size. */
async function levelsOf(body) {
  const levels = [1, 3, 6].map((level) => ({ level, bytes: 0, times: [] }));
  for (let round = 0; round < 5; round++)
    for (const each of levels) {
      const startedAt = process.hrtime.bigint();
      each.bytes = (await promisify(deflateRaw)(body, { level: each.level })).length;
      each.times.push(Number(process.hrtime.bigint() - startedAt) / 1e6);
    }
  return levels.map(({ level, bytes, times }) => ({ level, bytes, ms: median(times) }));
}

async function main() {
  const publisher = await start('publisher.js', [contextId, String(SERIES)]);
  const ours = await startOurs();
  const first = await scrape(ours.port, true);
  const bytes = join(folder, 'page');
  writeFileSync(bytes, first.body);
  const floor = await start('floor.js', [bytes]);
  const prom = await start('prom-client.js', [String(SERIES)]);
  const peers = [
    { name: 'floor', ...floor, teller: floor.child },
    { name: 'shm_exporter', ...ours, teller: publisher.child },
    { name: 'prom-client', ...prom, teller: prom.child },
  ];
  const times = new Map(peers.map(({ name }) => [name, SHARES.map(() => [])]));
  for (let round = -2; round < ROUNDS; round++)
    for (const [index, share] of SHARES.entries())
      for (let turn = 0; turn < peers.length; turn++) {
        // Each round starts with another peer.
        const peer = peers[(turn + round + 2) % peers.length];
        await tell(peer.teller, { change: share });
        // Let the publisher collect its garbage first: that is not part of a scrape.
        await sleep(SETTLE_MS);
        const { ms } = await scrape(peer.port);
        if (round >= 0) times.get(peer.name)[index].push(ms);
      }
  await tell(publisher.child, { change: 0.37 });
  const { truth } = await tell(publisher.child, { truth: true });
  check((await scrape(ours.port, true)).body, truth);
  const asked = await scrape(ours.port, true, { 'accept-encoding': 'gzip' });
  check(gunzipSync(asked.body), truth);
  const gzip = {
    ...(await zipped(ours.port, publisher.child)),
    levels: await levelsOf(first.body),
  };

  const base = times.get('floor').map(median);
  const rows = peers.map(({ name, child }) => ({
    name,
    peakMb: Math.round(peakMb(child)),
    shares: SHARES.map((share, index) => {
      const ms = median(times.get(name)[index]);
      return { share, ms, timesFloor: ms / base[index] };
    }),
  }));
  const results = {
    series: SERIES,
    bytes: first.bytes,
    rounds: ROUNDS,
    node: process.version,
    cpu: cpus()[0].model,
    cores: cpus().length,
    rows,
    gzip,
  };
  writeFileSync(script('results.json'), `${JSON.stringify(results, undefined, 2)}\n`);
  console.log(
    `${SERIES} series, ${(first.bytes / 1e6).toFixed(1)} MB, ${ROUNDS} rounds, medians; every value checked`,
  );
  const cell = ({ ms, timesFloor }) =>
    `${ms.toFixed(2).padStart(9)} ms ${timesFloor.toFixed(2).padStart(7)} x`;
  console.log(
    `${'changed'.padEnd(14)}${SHARES.map((share) => `${share * 100} %`.padStart(21)).join('')}   peak MB`,
  );
  for (const { name, shares, peakMb: mb } of rows)
    console.log(`${name.padEnd(14)}${shares.map(cell).join('')}${String(mb).padStart(10)}`);
  const gzipCell = ({ gzipMs, timesPlain }) =>
    `${gzipMs.toFixed(2).padStart(9)} ms ${timesPlain.toFixed(2).padStart(7)} x`;
  const mb = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
  console.log(`with gzip     ${gzip.shares.map(gzipCell).join('')}   x: the same without gzip`);
  console.log(
    `gzip: ${mb(gzip.bytes)}; ` +
      gzip.levels
        .map((each) => `level ${each.level} ${each.ms.toFixed(0)} ms ${mb(each.bytes)}`)
        .join(', '),
  );
}

function cleanUp() {
  for (const child of children) {
    child.removeAllListeners('exit');
    if (child.connected) child.disconnect();
    else child.kill('SIGTERM');
  }
  agent.destroy();
  rmSync(folder, { recursive: true, force: true });
}

process.once('SIGINT', () => {
  cleanUp();
  process.exitCode = 130;
});
try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  cleanUp();
}
