// For how long is the event loop held while a large tree is bound, and objects come and go meanwhile?
// Usage: bind-churn.js [objects]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';

const OBJECTS = Number(process.argv[2] ?? 200_000);
const load = async (path) => import(new URL(`../dist/${path}`, import.meta.url));

const { compileFilters } = await load('catalogue/match/filters.js');
const { Kernel } = await load('exposition/kernel/kernel.js');
const { TargetView } = await load('exposition/target-view.js');
const { posixMemory } = await load('native/os/posix.js');
const { segmentWatches } = await load('native/segment/segment-watch.js');
const { hostingPipeline } = await load('pipeline.js');
const { RefreshQueue } = await load('streams/refresh-queue.js');
const { ServerPool } = await load('streams/server-pool.js');
const { BehaviorSubject } = await import('rxjs');

/** Notes for how long the event loop was held at most, in ms of a clock and of processor time. */
function longestTurn() {
  const cpuMs = () => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;
  const longest = { ms: 0, cpuMs: 0 };
  let last = { ms: performance.now(), cpuMs: cpuMs() };
  const look = () => {
    const now = { ms: performance.now(), cpuMs: cpuMs() };
    for (const key of ['ms', 'cpuMs']) longest[key] = Math.max(longest[key], now[key] - last[key]);
    last = now;
  };
  const timer = setInterval(look, 1);
  return () => {
    look();
    clearInterval(timer);
    return longest;
  };
}

/** One target bound by the real pipeline; `progress` says how far it is. */
function bind(contextId) {
  const filters = compileFilters(undefined, { classes: [], seedPathGroups: [], seedPaths: [] });
  const kernel = new Kernel();
  const app = 'bench';
  const pool = new ServerPool({
    watch: segmentWatches(posixMemory(), { contextId, poolName: 'pool' }),
  });
  let view;
  let isTurned;
  const isReady = new Promise((resolve) => (isTurned = resolve));
  const makeView = ({ source, root }) =>
    (view = new TargetView({
      ...{ app, kernel, source, root, catalogue: undefined, filters, variable: '', timeZone: '' },
      ...{ showsUncatalogued: false, pathLabels: () => ({}) },
      onClash: () => undefined,
    }));
  const subscription = hostingPipeline({
    ...{ app, hint: '', serverKeys: ['1'], pool, queue: new RefreshQueue(), makeView },
    open$: new BehaviorSubject(undefined),
    isStandby: () => false,
    refreshed: () => undefined,
  }).subscribe({
    next: (step) => step.isReady && isTurned(),
    error: (error) => {
      throw error;
    },
  });
  return {
    isReady,
    progress: () => view?.counts ?? { objects: { total: 0 } },
    stop: () => subscription.unsubscribe(),
  };
}

async function publisherOf(contextId, kind) {
  const script = new URL('bind-churn-publisher.js', import.meta.url);
  const child = fork(script, [contextId, String(OBJECTS), kind]);
  await once(child, 'message');
  const close = async () => {
    child.disconnect();
    await once(child, 'exit');
  };
  return { tell: (what) => child.send(what), close };
}

/** Binds a tree once; `during` makes the publisher do something meanwhile. */
async function measure(kind, during) {
  const contextId = `churn${process.pid}${kind}`;
  const publisher = await publisherOf(contextId, kind);
  try {
    globalThis.gc?.();
    await sleep(100);
    const turn = longestTurn();
    const startedAt = performance.now();
    const cpu = process.cpuUsage();
    const target = bind(contextId);
    await during(publisher, target);
    await target.isReady;
    const { user, system } = process.cpuUsage(cpu);
    const longest = turn();
    const row = {
      'longest turn (ms)': longest.ms,
      'in processor time (ms)': longest.cpuMs,
      'ready after (s)': (performance.now() - startedAt) / 1000,
      'processor time (s)': (user + system) / 1e6,
      objects: target.progress().objects.total,
    };
    target.stop();
    return row;
  } finally {
    await publisher.close();
  }
}

const rows = {
  'at rest': await measure('wide', () => undefined),
  '1,000 adds and removes a second': await measure('wide', (publisher) =>
    publisher.tell({ churn: 1000 }),
  ),
  'half of it removed meanwhile': await measure('halved', async (publisher, target) => {
    while (target.progress().objects.total < OBJECTS / 10) await sleep(1);
    publisher.tell({ removeHalf: true });
  }),
};
const rounded = (row) =>
  Object.fromEntries(Object.entries(row).map(([key, value]) => [key, Number(value.toFixed(1))]));
console.table(Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, rounded(row)])));
