// Tests that a publisher's notifications reach the state of a target, but do not each cause a report.
import {
  asyncScheduler,
  filter,
  ignoreElements,
  interval,
  map,
  merge,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { CatalogueCache } from '#app/catalogue/builtin.js';
import { posixMemory } from '#app/native/os/posix.js';
import { segmentPollers } from '#app/native/segment/segment-poller.js';
import { PollerPool } from '#app/streams/poller-pool.js';
import { LogicalPartition } from '#app/targets/partitions/logical-partition.js';
import { definitionOf } from '../support/definition-of.js';
import { marbles } from '../support/marbles.js';
import { Publishers } from '../support/publishers.js';
import { schedulerOf } from '../support/scheduler-of.js';

describe('the notifications of a publisher', () => {
  const publishers = new Publishers();
  afterEach(() => publishers.closeAll());

  it(
    'cause at most one report per second, and none once the last notification is reported',
    marbles(({ expectObservable }) => {
      const { contextId } = publishers;
      const publisher = publishers.withRoot('82', 'H.1.demo');
      const makePoller = segmentPollers(posixMemory(), { contextId, poolName: 'pool' });
      const tasks = schedulerOf(asyncScheduler);
      const pool = new PollerPool({ makePoller, tasks });
      const nowMs = () => asyncScheduler.now();
      const thread = { pools: () => pool, catalogues: new CatalogueCache(), nowMs, tasks };
      const { report$ } = new LogicalPartition(0, thread).host(definitionOf());
      const count$ = report$.pipe(
        filter((report) => report.kind !== 'event'),
        map((report) => 'state' in report && report.state.notifications?.count),
      );
      const notify$ = interval(1).pipe(
        tap(() => {
          publisher.notify();
        }),
        ignoreElements(),
        takeUntil(timer(2500)),
      );
      // A report has the count at the last poll. Every fourth report is sent even if nothing changed.
      const counts = '(nn) 996ms a 999ms b 999ms c 999ms d 999ms d 3999ms d';
      const leaves = '9500ms !';
      const values = { n: 0, a: 100, b: 1000, c: 2000, d: 2499 };
      expectObservable(merge(notify$, count$), leaves).toBe(counts, values);
    }),
  );
});
