// Measures for how long an exporter blocks its event loop while it binds a large tree that changes meanwhile.
// Usage: bind-churn.js [objects [variables of each]]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startExporter } from './exporter.js';

const OBJECTS = process.argv[2] ?? '200000';
const VARIABLES = process.argv[3] ?? '1';
/** How long the tree continues to change after the target is ready. */
const AFTER_MS = 3000;
const watch = new URL('turn-watch.js', import.meta.url).pathname;

/**
 * Binds a tree once. If `told` is given, the publisher gets it as a message after `delayMs`, and then changes the
 * tree.
 */
async function measure(kind, told, delayMs = 0) {
  const folder = mkdtempSync(join(tmpdir(), 'shm-churn-'));
  const contextId = `churn${process.pid}${kind}`;
  const script = new URL('bind-churn-publisher.js', import.meta.url);
  const publisher = fork(script, [contextId, OBJECTS, kind, VARIABLES]);
  let [exporter, tell] = [];
  try {
    await once(publisher, 'message');
    const startedAt = performance.now();
    if (told !== undefined) tell = setTimeout(() => publisher.send(told), delayMs);
    exporter = await startExporter(
      folder,
      [`context_id = "${contextId}"`, 'app = "bench"', 'server_keys = ["1"]'],
      ...[1, undefined, ['--import', watch]],
    );
    const readyMs = performance.now() - startedAt;
    await sleep(told === undefined ? 0 : AFTER_MS);
    clearTimeout(tell);
    exporter.child.removeAllListeners('exit');
    await exporter.stop();
    const turns = JSON.parse(/turns (\{.*\})/.exec(exporter.log)[1]);
    return {
      'longest turn (ms)': turns.longestMs,
      'p99 (ms)': turns.p99Ms,
      'ready after (s)': readyMs / 1000,
      'processor time (s)': turns.cpuMs / 1000,
    };
  } finally {
    exporter?.child.kill();
    publisher.disconnect();
    await once(publisher, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

const rows = {
  'at rest': await measure('wide'),
  '1,000 adds and removes a second': await measure('wide', { churn: 1000 }),
  // The delay is long enough for the exporter to bind a part of the tree first.
  'half of it removed meanwhile': await measure('halved', { removeHalf: true }, 1500),
};
const rounded = (row) =>
  Object.fromEntries(Object.entries(row).map(([key, value]) => [key, Number(value.toFixed(1))]));
console.table(Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, rounded(row)])));
