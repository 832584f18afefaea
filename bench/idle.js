// What the exporter uses while nobody scrapes it: many targets, each on a publisher that updates its
// values ten times a second and says so. Usage: idle.js [publishers] [values] [seconds]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startExporter } from './exporter.js';
import { cpuOf } from './usage.js';

const [PUBLISHERS = 16, VALUES = 1000, SECONDS = 20] = process.argv.slice(2).map(Number);
const UPDATE_MS = 100;
/** Until its code is compiled. */
const WARM_MS = 20_000;
const [, , role, contextId] = process.argv;

/** All publishers in one process: what they use is not looked at. */
async function publish() {
  const { Publisher } = await import('../dist/native/publisher/publisher.js');
  const all = Array.from({ length: PUBLISHERS_OF }, (_, index) => {
    const publisher = new Publisher({
      contextId,
      serverKey: String(index + 1),
      pid: process.pid,
      realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
      heartbeatMs: 1000,
      capacity: { records: 1 << 12, slots: 1 << 12, stringBytes: 1 << 18 },
    });
    const root = publisher.addRoot(`host.${index + 1}.idle`, 'Idle');
    const handles = Array.from({ length: VALUES_OF }, (_, i) =>
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
const [PUBLISHERS_OF, VALUES_OF] = process.argv.slice(4).map(Number);

async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'shm-idle-'));
  const context = `idle${process.pid}`;
  const publisher = fork(new URL(import.meta.url), [
    'publish',
    context,
    String(PUBLISHERS),
    String(VALUES),
  ]);
  let exporter;
  try {
    await once(publisher, 'message');
    const keys = Array.from({ length: PUBLISHERS }, (_, index) => index + 1);
    exporter = await startExporter(
      folder,
      [
        `context_id = "${context}"`,
        ...keys.flatMap((key) => ['[[targets]]', 'app = "idle"', `server_key = "${key}"`]),
      ],
      PUBLISHERS,
    );
    await sleep(WARM_MS);
    const before = cpuOf(exporter.child.pid);
    await sleep(SECONDS * 1000);
    const share = (cpuOf(exporter.child.pid) - before) / SECONDS;
    console.log(
      `${PUBLISHERS} targets of ${VALUES} values, updated every ${UPDATE_MS} ms, not scraped: ` +
        `${(share * 100).toFixed(2)} % of a core`,
    );
  } finally {
    exporter?.child.removeAllListeners('exit');
    await exporter?.stop();
    publisher.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
}

await (role === 'publish' ? publish() : measure());
