// Measures cold scrapes: each uses a new connection, after a pause and with flushed processor caches, plain or with
// gzip. Two servers give the baseline: floor.js only sends bytes, work.js only does the work of a scrape. Also
// compares the size of a gzip body with that of zlib at level 1, and measures the memory of the exporter and the time
// until it is ready. Usage: cold.js [series…]. BENCH_SCRAPES_BEFORE is the number of warm-up scrapes, half of them
// with gzip: V8 optimizes a function only after it has run for a while.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { writeCatalogue } from './catalogue.js';
import { startExporter } from './exporter.js';
import { agent, scrape } from './scrape.js';

const SIZES = process.argv.slice(2).map(Number);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
/** Rounds that are not measured, until V8 has compiled the code and the exporter has each encoding of the page. */
const FIRST_ROUNDS = 3;
const SCRAPES_BEFORE = Number(process.env.BENCH_SCRAPES_BEFORE ?? 0);
/** The number of warm-up scrapes between two changes of the values. */
const SCRAPES_A_CHANGE = 4;
const SHARES = [0, 0.01, 0.1, 1];
const REST_MS = 30;
/** Larger than the processor's caches; filling it flushes them. */
const swept = Buffer.alloc(48 << 20);
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/** Processor time of all threads of a process, in ms. */
function cpuMs(pid) {
  const tasks = `/proc/${pid}/task`;
  return (
    readdirSync(tasks).reduce(
      (sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
      0,
    ) / 1e6
  );
}

const residentMb = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** The milliseconds from the first packet of a connection to the last byte of the body, and the number of bytes. */
async function coldScrape(port, encoding) {
  const room = Buffer.alloc(1 << 20);
  const startedAt = process.hrtime.bigint();
  let [bytes, wanted] = [0, Infinity];
  await new Promise((resolve, reject) => {
    const callback = (count) => {
      if (bytes === 0) {
        const head = room.latin1Slice(0, count);
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
        if (!head.startsWith('HTTP/1.1 200') || Number.isNaN(length)) reject(new Error(head));
        wanted = head.indexOf('\r\n\r\n') + 4 + length;
      }
      bytes += count;
      if (bytes < wanted) return true;
      socket.destroy();
      resolve();
      return true;
    };
    const socket = createConnection({
      ...{ port, host: '127.0.0.1' },
      onread: { buffer: room, callback },
    });
    socket.on('error', reject);
    socket.write(
      `GET /metrics HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: ${encoding}\r\nConnection: close\r\n\r\n`,
    );
  });
  return { ms: Number(process.hrtime.bigint() - startedAt) / 1e6, bytes };
}

async function measure(series) {
  const folder = mkdtempSync(join(tmpdir(), 'shm-cold-'));
  const children = [];
  const start = async (name, args) => {
    const child = fork(new URL(name, import.meta.url), args);
    children.push(child);
    const [{ port }] = await once(child, 'message');
    return { child, port };
  };
  let ours;
  try {
    const contextId = `cold${process.pid}n${series}`;
    const { child: publisher } = await start('publisher.js', [contextId, String(series)]);
    const startedAt = performance.now();
    ours = await startExporter(folder, [
      `context_id = "${contextId}"`,
      'app = "bench"',
      'server_keys = ["1"]',
      'render_min_interval_ms = 1',
      `catalogue_files = ["${writeCatalogue(folder)}"]`,
    ]);
    const readyMs = performance.now() - startedAt;
    const { body } = await scrape(ours.port, true);
    const loadedMb = residentMb(ours.child.pid);
    const page = join(folder, 'page');
    writeFileSync(page, body);
    const floor = await start('floor.js', [page]);
    const work = await start('work.js', [String(series)]);
    const kinds = [
      { name: 'floor', port: floor.port, pid: floor.child.pid, encoding: 'identity' },
      { name: 'work', port: work.port, pid: work.child.pid, encoding: 'identity' },
      { name: 'plain', port: ours.port, pid: ours.child.pid, encoding: 'identity' },
      { name: 'workGzip', port: work.port, pid: work.child.pid, encoding: 'gzip' },
      { name: 'gzip', port: ours.port, pid: ours.child.pid, encoding: 'gzip' },
    ];
    for (let i = 0; i < SCRAPES_BEFORE; i++) {
      if (i % SCRAPES_A_CHANGE === 0) {
        publisher.send({ change: 0.01 });
        await once(publisher, 'message');
      }
      await coldScrape(ours.port, i % 2 === 0 ? 'identity' : 'gzip');
      await coldScrape(floor.port, 'identity');
    }
    const rows = SHARES.map(() => kinds.map(() => []));
    const zlibBytes = [];
    for (const [index, share] of SHARES.entries()) {
      // Measure one kind after the other: the exporter renders an encoding only while scrapers request it.
      for (const [which, kind] of kinds.entries())
        for (let round = -FIRST_ROUNDS; round < ROUNDS; round++) {
          for (const source of [publisher, work.child]) {
            source.send({ change: share });
            await once(source, 'message');
          }
          swept.fill(round);
          await sleep(REST_MS);
          const before = cpuMs(kind.pid);
          const answer = await coldScrape(kind.port, kind.encoding);
          if (round >= 0) rows[index][which].push({ ...answer, cpu: cpuMs(kind.pid) - before });
        }
      zlibBytes.push(gzipSync((await scrape(ours.port, true)).body, { level: 1 }).length);
    }
    const scrapes = SHARES.map((share, index) => ({
      share,
      zlibBytes: zlibBytes[index],
      ...Object.fromEntries(
        kinds.map(({ name }, which) => {
          const all = rows[index][which];
          const [ms, cpu] = [
            median(all.map((each) => each.ms)),
            median(all.map((each) => each.cpu)),
          ];
          return [name, { ms, cpuMs: cpu, bytes: all.at(-1).bytes }];
        }),
      ),
    }));
    return { series, readyMs, loadedMb, servedMb: residentMb(ours.child.pid), scrapes };
  } finally {
    ours?.child.removeAllListeners('exit');
    await ours?.stop();
    for (const child of children) if (child.connected) child.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
}

function print({ series, readyMs, loadedMb, servedMb, scrapes }) {
  console.log(
    `\n${series} series: ready after ${(readyMs / 1000).toFixed(2)} s; ` +
      `${loadedMb.toFixed(0)} MB after the first scrape, ${servedMb.toFixed(0)} MB at the end`,
  );
  console.log(
    'changed     floor ms (cpu)       work ms (cpu)         plain ms (cpu)   x floor  work, gzip ms (cpu)         gzip ms (cpu)   x floor      MB x zlib 1',
  );
  const cell = ({ ms, cpuMs: cpu }) =>
    `${ms.toFixed(2).padStart(8)} (${cpu.toFixed(2)})`.padStart(20);
  for (const { share, floor, work, plain, workGzip, gzip, zlibBytes } of scrapes)
    console.log(
      `${`${share * 100} %`.padEnd(6)}${cell(floor)}${cell(work)}   ${cell(plain)} ${(plain.ms / floor.ms).toFixed(2).padStart(8)}` +
        ` ${cell(workGzip)}  ${cell(gzip)} ${(gzip.ms / floor.ms).toFixed(2).padStart(8)} ${(gzip.bytes / 1e6).toFixed(2).padStart(8)} ${(gzip.bytes / zlibBytes).toFixed(2).padStart(8)}`,
    );
}

const results = [];
for (const series of SIZES.length > 0 ? SIZES : [10_000, 100_000, 1_000_000]) {
  const result = await measure(series);
  results.push(result);
  print(result);
}
agent.destroy();
writeFileSync(
  new URL('cold.json', import.meta.url),
  `${JSON.stringify({ node: process.version, scrapesBefore: SCRAPES_BEFORE, results }, null, 2)}\n`,
);
