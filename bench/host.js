// Compares the host page of many targets with the page of one target that has the same series. Prints ratios of time
// and processor time for each form, and the processor time after a change of one target. Then four slow clients read
// the host page while another client scrapes one target. Usage: host.js [targets] [rounds]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip, gunzipSync } from 'node:zlib';
import { writeCatalogue } from './catalogue.js';
import { startExporter } from './exporter.js';
import { agent, scrape } from './scrape.js';
import { cpuOf, memoryOf } from './usage.js';

const [targets = 100, rounds = 30] = process.argv.slice(2).map(Number);
/** Families and lines of each target: many small families, and few with whole deflate blocks. */
const SHAPES = [
  [50, 20],
  [4, 256],
];
const PROTOBUF =
  'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited';
const FORMS = {
  text: {},
  protobuf: { accept: PROTOBUF },
  gzip: { 'accept-encoding': 'gzip' },
};
const SLOW_CLIENTS = 4;
const TURN_WATCH = new URL('turn-watch.js', import.meta.url).pathname;

const sorted = (list) => list.toSorted((a, b) => a - b);
const quantile = (list, q) => sorted(list)[Math.min(list.length - 1, Math.floor(list.length * q))];
const fixed = (number) => number.toFixed(2);
const folder = mkdtempSync(join(tmpdir(), 'shm-host-'));
const catalogue = writeCatalogue(folder);

for (const [families, lines] of SHAPES) {
  console.log(`\n${targets} targets, ${families} families with ${lines} lines for each target\n`);
  await measure(families, lines);
}
agent.destroy();
rmSync(folder, { recursive: true });

async function measure(families, lines) {
  const contextId = `host${process.pid}f${families}`;
  const publishers = fork(new URL('host-publishers.js', import.meta.url), [
    ...[contextId, targets, families, lines].map(String),
  ]);
  await once(publishers, 'message');
  const common = [
    `context_id = "${contextId}"`,
    'render_min_interval_ms = 1',
    'host_page = { enabled = true }',
    `catalogue_files = ["${catalogue}"]`,
  ];
  const start = (own, count) =>
    startExporter(folder, [...common, ...own], count, undefined, ['--import', TURN_WATCH]);
  const keys = Array.from({ length: targets }, (_, part) => `part${part}`);
  const manyTargets = keys.map((key) => `{ app = "bench", server_key = "${key}" }`);
  const whole = ['app = "bench"', 'server_keys = ["whole"]'];
  const many = [`targets = [${manyTargets.join(', ')}]`];
  try {
    console.log('| form | changed | host ms | one ms | time | processor | one of all: processor |');
    console.log('|---|---:|---:|---:|---:|---:|---:|');
    for (const [form, headers] of Object.entries(FORMS)) {
      const host = await start(many, targets);
      const one = await start(whole, 1);
      const pages = [
        { exporter: host, path: '/-/all' },
        { exporter: one, path: '/metrics' },
      ];
      /** The median time and the processor time of a scrape of each page. */
      const scrapes = async (change, count = rounds) => {
        const used = pages.map(() => ({ ms: [], cpuMs: 0 }));
        for (let round = -3; round < count; round++) {
          publishers.send(change);
          await once(publishers, 'message');
          for (const [index, { exporter, path }] of pages.entries()) {
            await sleep(20);
            const before = cpuOf(exporter.child.pid);
            const { ms } = await scrape(exporter.port, false, headers, path);
            await sleep(20);
            if (round < 0) continue;
            used[index].ms.push(ms);
            used[index].cpuMs += ((cpuOf(exporter.child.pid) - before) * 1000) / count;
          }
        }
        return used.map(({ ms, cpuMs }) => ({ ms: quantile(ms, 0.5), cpuMs }));
      };
      const [alone] = await scrapes({ share: 1, count: 1 });
      for (const share of [0, 0.01, 1]) {
        const [hostUse, oneUse] = await scrapes({ share, count: targets });
        const ratio = share === 1 ? fixed(alone.cpuMs / hostUse.cpuMs) : '';
        console.log(
          `| ${form} | ${share * 100} % | ${fixed(hostUse.ms)} | ${fixed(oneUse.ms)} | ` +
            `${fixed(hostUse.ms / oneUse.ms)} | ${fixed(hostUse.cpuMs / oneUse.cpuMs)} | ${ratio} |`,
        );
      }
      if (form === 'gzip') await compareZlib(host, publishers);
      const memory = pages.map(({ exporter }) => memoryOf(exporter.child.pid).own);
      if (form === 'text') await slowClients(host);
      await Promise.all([host.stop(), one.stop()]);
      const turns = /turns (.*)/.exec(host.log)?.[1];
      console.log(
        `| ${form} | | | | memory ${fixed(memory[0] / memory[1])} | event loop ${turns} | |`,
      );
    }
  } finally {
    publishers.disconnect();
    await once(publishers, 'exit');
  }
}

/** The time of the gzip page against zlib at level 1, when all values have changed. */
async function compareZlib(host, publishers) {
  const [own, zlib] = [[], []];
  for (let round = 0; round < 10; round++) {
    publishers.send({ share: 1, count: targets });
    await once(publishers, 'message');
    await sleep(20);
    const { ms, body } = await scrape(host.port, true, FORMS.gzip, '/-/all');
    own.push(ms);
    const text = gunzipSync(body);
    const before = performance.now();
    await promisify(gzip)(text, { level: 1 });
    zlib.push(performance.now() - before);
  }
  const [a, b] = [quantile(own, 0.5), quantile(zlib, 0.5)];
  console.log(`| gzip | zlib level 1 | ${fixed(a)} | ${fixed(b)} | ${fixed(a / b)} | | |`);
}

/** The 99th percentile of scrapes of one target, with and without slow clients of the host page. */
async function slowClients({ port, child }) {
  const p99 = async () => {
    const times = [];
    for (let i = 0; i < 300; i++) {
      await sleep(5);
      times.push((await scrape(port, false, {}, '/metrics?app=bench&server_key=part0')).ms);
    }
    return quantile(times, 0.99);
  };
  const without = await p99();
  const before = memoryOf(child.pid).own;
  const clients = Array.from({ length: SLOW_CLIENTS }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /-/all HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket.on('error', () => undefined);
    socket.pause();
    const reading = setInterval(() => socket.read(16384), 50);
    return { socket, reading };
  });
  await sleep(500);
  const slow = await p99();
  for (const { socket, reading } of clients) {
    clearInterval(reading);
    socket.destroy();
  }
  await sleep(1000);
  const after = memoryOf(child.pid).own;
  console.log(
    `| slow clients | p99 | ${fixed(slow)} | ${fixed(without)} | ${fixed(slow / without)} | memory ${fixed(after / before)} | |`,
  );
}
