// Measures the processor time of an exporter that nobody scrapes. It has many targets, whose publishers update and
// notify ten times a second. Usage: idle.js [publishers] [values] [seconds]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startExporter } from './exporter.js';
import { cpuOf } from './usage.js';

const UPDATE_MS = 100;
/** The time for V8 to compile the code and to collect the garbage of the start. */
const WARM_MS = 60_000;
const [role, ...given] = process.argv.slice(2);

/** Runs all publishers in one process, which is not measured. */
async function publish(contextId, publishers, values) {
  const { Publisher } = await import('../dist/native/publisher/publisher.js');
  const all = Array.from({ length: publishers }, (_, index) => {
    const publisher = new Publisher({
      failIfBusy: true,
      contextId,
      serverKey: String(index + 1),
      pid: process.pid,
      realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
      heartbeatMs: 1000,
      capacity: { records: 1 << 12, slots: 1 << 12, stringBytes: 1 << 18 },
    });
    const root = publisher.addRoot(`host.${index + 1}.idle`, 'Idle');
    const handles = Array.from({ length: values }, (_, i) =>
      publisher.addVariable(root, `value${i}`, 'u64'),
    );
    publisher.place();
    return { publisher, handles };
  });
  let round = 0;
  const timer = setInterval(() => {
    round++;
    for (const { publisher, handles } of all) {
      for (const handle of handles) handle.set(round);
      publisher.notify();
    }
  }, UPDATE_MS);
  process.on('disconnect', () => {
    clearInterval(timer);
    for (const { publisher } of all) publisher.close();
    process.exit(0);
  });
  process.send({ done: true });
}

async function measure(publishers = 16, values = 1000, seconds = 20) {
  const folder = mkdtempSync(join(tmpdir(), 'shm-idle-'));
  const context = `idle${process.pid}`;
  const publisher = fork(new URL(import.meta.url), [
    'publish',
    context,
    String(publishers),
    String(values),
  ]);
  let exporter;
  try {
    await once(publisher, 'message');
    const keys = Array.from({ length: publishers }, (_, index) => index + 1);
    exporter = await startExporter(
      folder,
      [
        `context_id = "${context}"`,
        ...keys.flatMap((key) => ['[[targets]]', 'app = "idle"', `server_key = "${key}"`]),
      ],
      publishers,
    );
    await sleep(WARM_MS);
    const before = cpuOf(exporter.child.pid);
    await sleep(seconds * 1000);
    const share = (cpuOf(exporter.child.pid) - before) / seconds;
    console.log(
      `${publishers} targets of ${values} values, updated every ${UPDATE_MS} ms, not scraped: ` +
        `${(share * 100).toFixed(2)} % of a core`,
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
