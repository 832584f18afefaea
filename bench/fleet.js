// Measures what a host of a fleet costs: the host page of N targets with M series each, with a tenth of the values
// changed between two scrapes. Usage: fleet.js [targets] [series per target] [scrapes]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { startExporter } from './exporter.js';
import { cpuOf, memoryOf } from './usage.js';

/** Variables of an object; each is a metric of its own. */
const VARIABLES = 10;
const WARM = 100;
const [role, ...given] = process.argv.slice(2);

/** Runs all publishers in one process, which is not measured. */
async function publish(contextId, targets, series) {
  const { Publisher } = await import('../dist/native/publisher/publisher.js');
  const objects = Math.ceil(series / VARIABLES);
  const all = Array.from({ length: targets }, (_, index) => {
    const publisher = new Publisher({
      failIfBusy: true,
      contextId,
      serverKey: `t${index}`,
      pid: process.pid,
      realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
      capacity: { records: 4 * (series + objects), slots: 4 * series, stringBytes: 1 << 24 },
    });
    const id = `host.${index}.shop`;
    const root = publisher.addRoot(id, 'Shop');
    const handles = Array.from({ length: objects }, (_, at) => {
      const object = publisher.addObject(root, `${id}.floor-${at % 20}.till-${at}`, 'Till');
      return Array.from({ length: VARIABLES }, (_, n) =>
        publisher.addVariable(object, `events_${n}`, 'u64', { kind: 'counter' }),
      );
    }).flat();
    handles.forEach((handle, at) => handle.set(1_000_000 + at * 97));
    publisher.place();
    return { publisher, handles };
  });
  const change = () => {
    for (const { publisher, handles } of all) {
      for (const handle of handles) if (Math.random() < 0.1) handle.add(1 + (Date.now() % 1000));
      publisher.notify();
    }
  };
  process.on('message', () => {
    change();
    process.send({ done: true });
  });
  process.on('disconnect', () => {
    for (const { publisher } of all) publisher.close();
    process.exit(0);
  });
  process.send({ done: true });
}

/** Scrapes over a new connection, as Prometheus does after a pause. Resolves with the number of bytes. */
const scrape = (port, encoding) =>
  new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': encoding, accept: 'text/plain' };
    get({ port, host: '127.0.0.1', path: '/-/all', headers, agent: false }, (response) => {
      let bytes = 0;
      response.on('data', (chunk) => (bytes += chunk.length));
      response.on('end', () => resolve(bytes));
    }).on('error', reject);
  });

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

async function measure(targets = 20, series = 500, scrapes = 200) {
  const folder = mkdtempSync(join(tmpdir(), 'shm-fleet-'));
  const context = `fleet${process.pid}`;
  const words = ['publish', context, String(targets), String(series)];
  const publisher = fork(new URL(import.meta.url), words);
  let exporter;
  try {
    await once(publisher, 'message');
    const lines = [
      `context_id = "${context}"`,
      '[discover]',
      'native = ["*"]',
      'max_targets = 1024',
    ];
    exporter = await startExporter(folder, lines, targets);
    const { port, child } = exporter;
    const round = async () => {
      publisher.send({ change: true });
      await once(publisher, 'message');
      const before = [cpuOf(child.pid), performance.now()];
      const bytes = await scrape(port, 'gzip');
      return {
        bytes,
        ms: performance.now() - before[1],
        cpuMs: (cpuOf(child.pid) - before[0]) * 1000,
      };
    };
    for (let i = 0; i < WARM; i++) await round();
    const rounds = [];
    for (let i = 0; i < scrapes; i++) rounds.push(await round());
    await sleep(5000);
    const idle = cpuOf(child.pid);
    await sleep(20_000);
    const idleShare = (cpuOf(child.pid) - idle) / 20;
    const plain = await scrape(port, 'identity');
    const mean = rounds.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / rounds.length;
    console.log(
      JSON.stringify({
        ...{ targets, series: targets * series },
        scrapeMs: Math.round(median(rounds.map(({ ms }) => ms)) * 10) / 10,
        cpuMsPerScrape: Math.round(mean * 10) / 10,
        idlePercent: Math.round(idleShare * 1000) / 10,
        residentMB: Math.round(memoryOf(child.pid).own),
        gzipKB: Math.round(median(rounds.map(({ bytes }) => bytes)) / 1000),
        plainKB: Math.round(plain / 1000),
      }),
    );
  } finally {
    exporter?.child.removeAllListeners('exit');
    await exporter?.stop();
    publisher.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (role === 'publish') await publish(given[0], ...given.slice(1).map(Number));
else await measure(...process.argv.slice(2).map(Number));
