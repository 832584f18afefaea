// The thread of a partition: runs targets as the main thread's messages say.
import { performance } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { EMPTY, defaultIfEmpty } from 'rxjs';
import type { Subscription } from 'rxjs';
import { messageOf } from '../../errors.js';
import type { TreeAnswer } from '../../model.js';
import { eagerScheduler as scheduler } from '../../streams/eager-scheduler.js';
import type { Report } from '../../streams/report.js';
import { serverPools } from '../../streams/server-pools.js';
import { formatWatches } from '../formats.js';
import { CatalogueShelf } from '../hosting/catalogue-shelf.js';
import { LogicalPartition } from '../hosting/logical-partition.js';
import type { FromThread, SentReport, ThreadSetup, ToThread } from './messages.js';
import type { HostedTarget } from '../hosting/partition.js';
import { RemoteMemory } from './remote-memory.js';
import { SnapshotLender } from './snapshot-lender.js';

interface Running {
  readonly hosted: HostedTarget;
  readonly subscription: Subscription;
}

const send = (message: FromThread): void => parentPort?.postMessage(message);
const setup = workerData as ThreadSetup;
const nowMs = () => performance.now();
const memory = new RemoteMemory(send);
const lender = new SnapshotLender();
const pools = serverPools(formatWatches({ memory, ...setup }), { nowMs, scheduler });
const shelf = new CatalogueShelf();
const partition = new LogicalPartition(setup.number, { pools, shelf, nowMs, scheduler });
const running = new Map<number, Running>();
const looks = new Map<number, Subscription>();

function sent(target: number, report: Report): SentReport {
  if (report.kind !== 'refreshed') return report;
  const { snapshot } = report;
  return { ...report, snapshot: snapshot && lender.lend(target, snapshot) };
}

function start({ target, definition, options }: Extract<ToThread, { kind: 'start' }>): void {
  const hosted = partition.host(definition, options);
  const subscription = hosted.report$.subscribe({
    next: (report) => {
      send({ kind: 'report', target, report: sent(target, report) });
    },
    error: (error: unknown) => {
      send({ kind: 'failed', target, reason: messageOf(error) });
    },
  });
  running.set(target, { hosted, subscription });
}

function stop(target: number): void {
  running.get(target)?.subscription.unsubscribe();
  running.delete(target);
  lender.forget(target);
}

/** Answers once: with nothing if the target does not run here, or the look fails. */
function look({ target, look: id, question }: Extract<ToThread, { kind: 'look' }>): void {
  const answer$ = running.get(target)?.hosted.look(question) ?? EMPTY;
  const answer = (answer: TreeAnswer | undefined): void => {
    send({ kind: 'looked', look: id, answer });
  };
  const subscription = answer$.pipe(defaultIfEmpty(undefined)).subscribe({
    next: answer,
    error: () => {
      answer(undefined);
    },
  });
  looks.set(id, subscription);
  subscription.add(() => looks.delete(id));
}

parentPort?.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'start':
      start(message);
      return;
    case 'command':
      running.get(message.target)?.hosted.send(message.command);
      return;
    case 'stop':
      stop(message.target);
      return;
    case 'look':
      look(message);
      return;
    case 'end-look':
      looks.get(message.look)?.unsubscribe();
      return;
    case 'given-back':
      lender.giveBack(message.snapshot, message.times);
      return;
    default:
      memory.hear(message);
  }
});
