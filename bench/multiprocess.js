// Scrapes an exporter of a large directory of metric files, beside the collector of prometheus_client where that is
// fetched (scripts/metric-libraries.js). Prints the time until the target is ready, the time and processor time of a
// scrape, the memory, and the longest turn of the event loop before the target is ready and afterwards.
// Usage: multiprocess.js [files] [entries of a file] [rounds]
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { startExporter } from './exporter.js';
import { agent, scrape } from './scrape.js';
import { cpuOf, memoryOf } from './usage.js';

const [files = 6800, entries = 98, rounds = 20] = process.argv.slice(2).map(Number);
const SHARES = [0, 0.01, 1];
const KINDS = ['counter', 'histogram', 'summary', 'gauge_max', 'gauge_livesum', 'gauge_mostrecent'];
const BOUNDS = [
  '0.1',
  '0.5',
  '1.0',
  '2.5',
  '5.0',
  '10.0',
  '30.0',
  '60.0',
  '120.0',
  '300.0',
  '600.0',
  '900.0',
  '+Inf',
];
const FILE_BYTES = 65_536;

const key = (family, sample, labels) => {
  const pairs = Object.entries(labels).map(([name, value]) => `"${name}": "${value}"`);
  return `["${family}", "${sample}", {${pairs.join(', ')}}, "Help of ${family}."]`;
};

/** The keys of a file of this kind. */
function keysOf(kind) {
  const path = (number) => ({ method: 'GET', path: `/shop/article/${number}` });
  return Array.from({ length: entries }, (_, number) => {
    if (kind === 'counter') return key('requests', 'requests_total', path(number));
    if (kind === 'summary')
      return key('size', number % 2 === 0 ? 'size_count' : 'size_sum', path(number >> 1));
    if (kind !== 'histogram') return key(kind, kind, path(number));
    const [set, part] = [Math.floor(number / 14), number % 14];
    if (part === 0) return key('latency', 'latency_sum', path(set));
    return key('latency', 'latency_bucket', { le: BOUNDS[part - 1], ...path(set) });
  });
}

/** The used bytes of a file, and the positions of its values. */
function fileOf(kind) {
  const parts = [Buffer.alloc(8)];
  const positions = [];
  let used = 8;
  for (const text of keysOf(kind)) {
    const bytes = Buffer.alloc(4 + text.length + (8 - ((4 + text.length) % 8)) + 16, ' ');
    bytes.writeInt32LE(text.length);
    bytes.write(text, 4);
    positions.push(used + bytes.length - 16);
    bytes.writeDoubleLE(1, bytes.length - 16);
    bytes.writeDoubleLE(kind === 'gauge_mostrecent' ? 1_700_000_000 : 0, bytes.length - 8);
    parts.push(bytes);
    used += bytes.length;
  }
  const bytes = Buffer.concat(parts);
  bytes.writeInt32LE(used);
  return { bytes, positions };
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const folder = mkdtempSync(join('/dev/shm', 'shm-multiprocess-'));
const directory = join(folder, 'metrics');
const TURN_WATCH = new URL('turn-watch.js', import.meta.url).pathname;
const LIBRARY = join(
  homedir(),
  '.cache/shm_exporter/libraries/python-trixie/usr/lib/python3/dist-packages',
);

/** Prints a line for each line on stdin: the milliseconds of the library's own page. */
const COLLECT = `
import sys, time
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
for _ in sys.stdin:
    start = time.perf_counter()
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=sys.argv[1])
    generate_latest(registry)
    print((time.perf_counter() - start) * 1000, flush=True)
`;

const templates = KINDS.map((kind) => ({ kind, ...fileOf(kind) }));
const all = [];
process.umask(0o022);
mkdirSync(directory);
for (let number = 0; number < files; number++) {
  const template = templates[number % templates.length];
  const path = join(
    directory,
    `${template.kind}_${100_000 + Math.floor(number / templates.length)}.db`,
  );
  const fd = openSync(path, 'w');
  writeSync(fd, template.bytes);
  ftruncateSync(fd, FILE_BYTES);
  closeSync(fd);
  all.push({ path, positions: template.positions });
}
let value = 1;
/** Changes all values of a share of the files, as a writer would. */
function change(share) {
  const count = Math.round(files * share);
  for (let number = 0; number < count; number++) {
    const { path, positions } = all[(number * 97 + value) % all.length];
    const fd = openSync(path, 'r+');
    for (const at of positions) writeSync(fd, Buffer.from(Float64Array.of(value).buffer), 0, 8, at);
    closeSync(fd);
  }
  value++;
}

const lines = [
  'app = "shop"',
  'server_keys = ["shop"]',
  'format = "multiprocess"',
  `format_settings = { directories = ["${directory}"] }`,
  'render_min_interval_ms = 1',
];
const startedMs = performance.now();
const exporter = await startExporter(folder, lines, 1, undefined, ['--import', TURN_WATCH]);
const readyMs = performance.now() - startedMs;
// Makes turn-watch.js print for how long the first reading blocked the event loop.
exporter.child.kill('SIGUSR2');
const library = existsSync(LIBRARY)
  ? spawn('/usr/bin/python3', ['-c', COLLECT, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, PYTHONPATH: LIBRARY, PYTHONDONTWRITEBYTECODE: '1' },
    })
  : undefined;
const answers = library && createInterface({ input: library.stdout })[Symbol.asyncIterator]();
try {
  console.log(`${files} files, ${files * entries} entries; ready after ${readyMs.toFixed(0)} ms`);
  console.log('| files changed | exporter ms | processor ms | library ms | library / exporter |');
  console.log('|---:|---:|---:|---:|---:|');
  for (const share of SHARES) {
    const [ours, theirs] = [[], []];
    let cpu = 0;
    for (let round = -2; round < rounds; round++) {
      change(share);
      await sleep(50);
      const before = cpuOf(exporter.child.pid);
      const { ms } = await scrape(exporter.port);
      if (round >= 0) {
        cpu += cpuOf(exporter.child.pid) - before;
        ours.push(ms);
      }
      if (answers === undefined || round < 0 || round > 4) continue;
      library.stdin.write('\n');
      theirs.push(Number((await answers.next()).value));
    }
    const [own, other] = [median(ours), median(theirs)];
    const cells = [own, (cpu * 1000) / rounds, other ?? NaN, (other ?? NaN) / own].map((each) =>
      each.toFixed(1),
    );
    console.log(`| ${share * 100} % | ${cells.join(' | ')} |`);
  }
  const idle = cpuOf(exporter.child.pid);
  await sleep(5000);
  console.log(`idle: ${((cpuOf(exporter.child.pid) - idle) * 20).toFixed(1)} % of a core`);
  console.log(`memory: ${JSON.stringify(memoryOf(exporter.child.pid))}`);
} finally {
  library?.stdin.end();
  await exporter.stop();
  console.log(
    exporter.log
      .split('\n')
      .filter((line) => line.startsWith('turns'))
      .join('\n'),
  );
  agent.destroy();
  rmSync(folder, { recursive: true });
}
