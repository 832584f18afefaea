// The thread of a partition: runs the targets that it is told to, and speaks with the main thread.
import { performance } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { Subject, connect, filter, merge, throttleTime } from 'rxjs';
import type { Observable, Subscription } from 'rxjs';
import { messageOf } from '../../errors.js';
import { segmentWatches } from '../../native/segment/segment-watch.js';
import type { Order } from '../../streams/order.js';
import { ServerPool } from '../../streams/server-pool.js';
import { CatalogueShelf } from '../hosting/catalogue-shelf.js';
import { LogicalPartition } from '../hosting/logical-partition.js';
import type { FromThread, SentReport, ThreadSetup, ToThread } from './messages.js';
import type { Hosted, Report } from '../hosting/partition.js';
import { RemoteMemory } from './remote-memory.js';
import { SnapshotLender } from './snapshot-lender.js';

/** What a target measures is told at most this often, but for answers, which always tell. */
const TELL_EVERY_MS = 1000;

interface Running {
  readonly hosted: Hosted;
  readonly order$: Subject<Order>;
  readonly subscription: Subscription;
}

const send = (message: FromThread): void => parentPort?.postMessage(message);
const setup = workerData as ThreadSetup;
const nowMs = () => performance.now();
const memory = new RemoteMemory(send);
const lender = new SnapshotLender();
const pool = new ServerPool({ watch: segmentWatches(memory, setup), nowMs });
const shelf = new CatalogueShelf();
const partition = new LogicalPartition(setup.number, { pool, shelf, nowMs });
const running = new Map<number, Running>();

/** A render that nobody waits for: the next demand brings it along. */
const isForNobody = (report: Report): boolean =>
  report.kind === 'answer' && report.id === undefined;

/** Reports, those that only say that a refresh is over not too often. */
const worthTelling = connect((report$: Observable<Report>) =>
  merge(
    report$.pipe(filter((report) => report.kind !== 'refreshed' && !isForNobody(report))),
    report$.pipe(
      filter(({ kind }) => kind === 'refreshed'),
      throttleTime(TELL_EVERY_MS, undefined, { leading: true, trailing: true }),
    ),
  ),
);

function sent(target: number, report: Report): SentReport {
  if (!('snapshot' in report)) return report;
  const { snapshot } = report;
  return { ...report, snapshot: snapshot && lender.lend(target, snapshot) };
}

function start({ target, definition, options }: Extract<ToThread, { kind: 'start' }>): void {
  const order$ = new Subject<Order>();
  const hosted = partition.host(definition, { ...options, order$ });
  const subscription = hosted.report$.pipe(worthTelling).subscribe({
    next: (report) => {
      const message = sent(target, report);
      send({ kind: 'report', target, report: message, facts: hosted.facts() });
    },
    error: (error: unknown) => {
      send({ kind: 'failed', target, reason: messageOf(error) });
    },
  });
  running.set(target, { hosted, order$, subscription });
}

function stop(target: number): void {
  running.get(target)?.subscription.unsubscribe();
  running.delete(target);
  lender.forget(target);
}

parentPort?.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'start':
      start(message);
      return;
    case 'order':
      running.get(message.target)?.order$.next(message.order);
      return;
    case 'stop':
      stop(message.target);
      return;
    case 'given-back':
      lender.giveBack(message.snapshot, message.times);
      return;
    default:
      memory.hear(message);
  }
});
