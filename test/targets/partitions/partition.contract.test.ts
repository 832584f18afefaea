// Tests the contract of partitions, in this thread and in a worker thread. Spec 1.10, 3.
import type { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { map } from 'rxjs';
import type { Subscription } from 'rxjs';
import { messageOf } from '#app/errors.js';
import { kernelCode } from '#app/exposition/wasm/kernel.js';
import { COUNTERS, COUNTER_NAMES, countersOf } from '#app/exposition/counters.js';
import { TEXT, notReadyText } from '#app/exposition/page/text-page.js';
import type { DemandAnswer, Page, TreeAnswer, TreeQuery } from '#app/model.js';
import { FutexWaiter } from '#app/native/os/futex-waiter.js';
import { posixMemory } from '#app/native/os/posix.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import { PARTITION_RETRY_MS } from '#app/targets/handover.js';
import { PartitionSet } from '#app/targets/partitions/partition-set.js';
import type { Partition } from '#app/targets/partitions/logical-partition.js';
import { ServedTarget } from '#app/targets/served-target.js';
import { ThreadedPartition, partitionThreads } from '#app/targets/threads/threaded-partition.js';
import { BUNDLED_THREAD } from '../../support/bundled-thread.js';
import { definitionOf } from '../../support/definition-of.js';
import { eventually, eventuallyFor, eventuallyReady } from '../../support/eventually.js';
import { follow } from '../../support/follow.js';
import { Publishers } from '../../support/publishers.js';
import { seriesOf } from '../../support/served.js';
import { treeQuery } from '../../support/tree-query.js';

const nowMs = () => performance.now();

/** Calls `use` on the answer to a demand while the text is held, and returns the result. */
async function ask<T>(target: ServedTarget, use: (answer: DemandAnswer) => T): Promise<T> {
  const { seen } = follow(target.demand().pipe(map(use)));
  await eventually('the demand is answered', () => seen.length > 0);
  const [answer] = seen;
  if (answer === undefined) throw new Error('There is no answer');
  return answer;
}

/** Holds the snapshot of an answer, and releases it. Returns 'held', or the reason why it cannot be held. */
function holdOnce(answer: DemandAnswer): string {
  if (answer.kind === 'waiting') return 'not ready';
  try {
    answer.snapshot.hold()();
    return 'held';
  } catch (error) {
    return messageOf(error);
  }
}

/** The answer to a tree query of a target. */
async function queryTree(
  target: ServedTarget,
  asked: Partial<TreeQuery> = {},
): Promise<TreeAnswer> {
  const { seen, subscription } = follow(target.queryTree(treeQuery(asked)));
  await eventually('the query is answered', () => seen.length > 0);
  expect(subscription.closed).to.equal(true);
  const [answer] = seen;
  if (answer === undefined) throw new Error('There is no answer');
  return answer;
}

for (const mode of ['logical', 'threaded'] as const)
  describe(`a ${mode} partition`, () => {
    const publishers = new Publishers();
    const running: Subscription[] = [];
    let waiter = new FutexWaiter();
    let partitions: PartitionSet | undefined;
    beforeEach(() => {
      waiter = new FutexWaiter();
    });
    afterEach(() => {
      for (const subscription of running.splice(0)) subscription.unsubscribe();
      partitions?.close();
      partitions = undefined;
      waiter.close();
      publishers.closeAll();
    });

    const partition = (number: number): Partition => {
      const { contextId } = publishers;
      const settings = { workerExecutionMode: mode, contextId, poolName: 'pool' };
      partitions ??= new PartitionSet(settings, posixMemory(waiter), nowMs, BUNDLED_THREAD);
      return partitions.get(number);
    };

    const serve = (definition: Partial<TargetDefinition> = {}, at = partition(0)) => {
      const target = new ServedTarget({
        definition: definitionOf(definition),
        partition: at,
        rebalances: { moves: 0, lastMs: 0 },
        unixMs: () => 0,
        nowMs,
      });
      const { seen, subscription } = follow(target.run());
      running.push(subscription);
      return { target, events: seen };
    };
    const readinessOf = (answer: DemandAnswer): string =>
      answer.kind === 'waiting' ? notReadyText(answer.status.progress) : 'ready';
    const pageOf = (answer: DemandAnswer): Page => {
      if (answer.kind === 'waiting') throw new Error(readinessOf(answer));
      return TEXT.page(answer);
    };
    const textOf = ({ buffers }: Page) => Buffer.concat(buffers).toString();
    const showing = (value: number) => {
      const publisher = publishers.make('82');
      const root = publisher.addRoot('H.1.demo', 'Root');
      const x = publisher.addVariable(root, 'x', 'u64');
      x.set(value);
      publisher.place();
      return { publisher, root, x };
    };
    const line = (value: number) => `demo_root_x{object="@root"} ${value}`;

    it('reports the item that a target waits for, and makes the target ready when all items are synced', async () => {
      const { target } = serve();
      await eventually('the key was polled', () => target.status().progress.reason.includes('82'));
      expect(await ask(target, readinessOf)).to.contain('waiting on a root of application demo');
      const publisher = publishers.make('82');
      const root = publisher.addRoot('H.1.demo', 'Root');
      const x = publisher.addVariable(root, 'x', 'u64');
      publisher.place();
      await eventuallyFor(target, 'the root is chosen', () => target.status().root === 'H.1.demo');
      expect(await ask(target, readinessOf)).to.equal(
        'scrape not ready: objects 1/1 synced, variables 0/1 synced, waiting on variable x of H.1.demo',
      );
      x.set(1);
      publisher.notify();
      await eventuallyReady(target);
      expect(await ask(target, seriesOf)).to.deep.equal([line(1)]);
    });

    it('answers a demand with values that are older than the demand by at most the interval', async () => {
      const { x } = showing(0);
      const { target } = serve({ renderMinIntervalMs: 1 });
      await eventuallyReady(target);
      for (let value = 1; value <= 20; value++) {
        x.set(value);
        await new Promise((resolve) => setTimeout(resolve, 2));
        expect(await ask(target, seriesOf)).to.deep.equal([line(value)]);
      }
    });

    it('counts hits and misses exactly', async () => {
      const { x } = showing(1);
      const { target } = serve({ renderMinIntervalMs: 60_000 });
      await eventuallyReady(target);
      const shown: string[] = [];
      for (const value of [1, 1, 2, 3]) {
        x.set(value);
        shown.push(...(await ask(target, seriesOf)));
      }
      expect(shown).to.deep.equal([line(1), line(1), line(1), line(1)]);
      const count = (name: string) =>
        target.internal().find((each) => each.name.endsWith(name))?.value;
      expect(count('render_cache_hits_total')).to.equal(3);
      expect(count('render_cache_misses_total')).to.equal(1);
    });

    it('adds late objects and drops removed objects while the target stays ready', async () => {
      const { publisher, root } = showing(1);
      const { target } = serve({ renderMinIntervalMs: 0 });
      await eventuallyReady(target);
      const child = publisher.addObject(root, 'H.1.demo.late', 'Late');
      publisher.addVariable(child, 'y', 'u64');
      expect(await ask(target, seriesOf)).to.deep.equal([line(1)]);
      publisher.addVariable(child, 'z', 'u64').set(5);
      const late = 'demo_late_z{object="late"} 5';
      expect((await ask(target, seriesOf)).sort()).to.deep.equal([late, line(1)]);
      publisher.removeObject(child);
      expect(await ask(target, seriesOf)).to.deep.equal([line(1)]);
      expect(target.status().isReady).to.equal(true);
    });

    it('detects that a publisher has ended, and binds the next publisher', async () => {
      const { publisher } = showing(1);
      const { target } = serve();
      await eventuallyReady(target);
      publisher.close();
      await eventuallyFor(target, 'it waits', () => !target.status().isReady);
      expect(await ask(target, readinessOf)).to.contain('waiting on a root of application demo');
      showing(2);
      await eventuallyReady(target);
      expect(await ask(target, seriesOf)).to.deep.equal([line(2)]);
    });

    it('does not change the bytes of a page until the page is released', async () => {
      const { publisher, root } = showing(1);
      const children = Array.from({ length: 300 }, (_, i) => {
        const child = publisher.addObject(root, `H.1.demo.child${i}`, 'Child');
        const value = publisher.addVariable(child, 'value', 'u64');
        value.set(i);
        return { child, value };
      });
      const { target } = serve({ renderMinIntervalMs: 0 });
      await eventuallyReady(target);
      const page = await ask(target, pageOf);
      const text = textOf(page);
      expect(text).to.contain('demo_child_value{object="child299"} 299\n');
      for (let round = 1; round <= 10; round++) {
        for (const { value } of children) value.add(1_000_000);
        (await ask(target, pageOf)).release();
      }
      for (const { child } of children) publisher.removeObject(child);
      publisher.close();
      await eventuallyFor(target, 'it waits', () => !target.status().isReady);
      expect(textOf(page)).to.equal(text);
      page.release();
    });

    it('hands over a target, with its text and counters, to another partition', async () => {
      const { x } = showing(1);
      const { target, events } = serve({ renderMinIntervalMs: 60_000 });
      await eventuallyReady(target);
      const count = (name: string) =>
        Number(target.internal().find((each) => each.name.endsWith(name))?.value);
      for (let demand = 0; demand < 20; demand++)
        expect(await ask(target, seriesOf)).to.deep.equal([line(1)]);
      x.set(2);
      const refreshes = count('target_refresh_total');
      const moved = follow(target.change({ partition: partition(1) }));
      await eventually('it moved', () => moved.subscription.closed);
      expect(target.status().partition).to.equal(1);
      expect(events.map(({ message }) => message).join('\n')).to.contain('from partition 0 to 1');
      expect(await ask(target, seriesOf), 'within the interval').to.deep.equal([line(1)]);
      expect(count('render_cache_hits_total')).to.equal(20);
      expect(count('render_cache_misses_total')).to.equal(1);
      expect(count('target_refresh_total')).to.be.above(refreshes);
    });

    it('renders text within the interval if the last render has only protobuf messages', async () => {
      const { x } = showing(1);
      const { target } = serve({ renderMinIntervalMs: 60_000 });
      await eventuallyReady(target);
      const { seen } = follow(target.demand(undefined, 'protobuf'));
      await eventually('the demand is answered', () => seen.length > 0);
      x.set(2);
      expect(await ask(target, seriesOf)).to.deep.equal([line(2)]);
      x.set(3);
      expect(await ask(target, seriesOf)).to.deep.equal([line(2)]);
    });

    it('answers all demands after a move with text that can be held, even if one demands another form at once', async () => {
      showing(1);
      const { target } = serve({ renderMinIntervalMs: 60_000 });
      await eventuallyReady(target);
      const protobuf = () => target.demand(undefined, 'protobuf');
      const { seen } = follow(protobuf());
      await eventually('the messages are rendered', () => seen.length > 0);
      follow(target.change({ partition: partition(1) }));
      await eventually('it has moved', () => target.status().partition === 1);
      const held: string[] = [];
      const hold = (answer: DemandAnswer): void => {
        held.push(holdOnce(answer));
      };
      // The first one starts a refresh, and the two others share the next.
      follow(protobuf());
      follow(protobuf().pipe(map(() => follow(target.demand().pipe(map(hold))))));
      follow(protobuf().pipe(map(hold)));
      await eventually('both are answered', () => held.length === 2);
      expect(held).to.deep.equal(['held', 'held']);
    });

    it('keeps the counters of a target that moves to this partition, and adds only new conditions and events', async () => {
      const { publisher, root } = showing(1);
      publisher.addVariable(root, 'X', 'u64').set(2);
      publisher.addVariable(root, 'y', 'u64').set(3);
      const text = publisher.addVariable(root, 'text', 'string');
      text.set('a');
      publisher.addVariable(root, 'z', 'u64').set(4);
      publisher.addObject(root, 'H.1.demo.c', 'Child');
      // The series of X clashes with that of x. The limits omit the series of y and text, the variable z and
      // the object c.
      const { target } = serve({ targetMaxObjects: 1, targetMaxVariables: 4, targetMaxSeries: 1 });
      await eventuallyReady(target);
      const counts = () => {
        const values = new Map(target.internal().map(({ name, value }) => [name, Number(value)]));
        return countersOf((name) => values.get(COUNTERS[name].metric) ?? NaN);
      };
      await ask(target, seriesOf);
      const before = counts();
      const conditions = { clashes: 1, omittedSeries: 2, omittedObjects: 1, omittedVariables: 1 };
      expect(before).to.deep.include({ ...conditions, staleFrames: 0 });
      // The publisher stops in the middle of an update of the text. Only a new view reads the text, and its
      // copy fails.
      const stopping = text as unknown as { update(payload: () => never): void };
      const stop = () => {
        throw new Error('stopped');
      };
      expect(() => stopping.update(stop)).to.throw('stopped');
      const moved = follow(target.change({ partition: partition(1) }));
      await eventually('it moved', () => moved.subscription.closed);
      expect(target.status().partition).to.equal(1);
      await ask(target, seriesOf);
      const after = counts();
      expect(after).to.deep.include(conditions);
      expect(after.staleFrames).to.be.above(0);
      for (const name of COUNTER_NAMES)
        if (COUNTERS[name].kind === 'condition') expect(after[name], name).to.equal(before[name]);
        else expect(after[name], name).to.be.at.least(before[name]);
    });

    it('answers tree queries with current values, even before the target is ready', async () => {
      const { target } = serve();
      await eventually('the key was polled', () => target.status().progress.reason.includes('82'));
      const answer = await queryTree(target);
      expect(answer.kind).to.equal('no-tree');
      expect(answer).to.have.property('reason').that.contains('a root of application demo');
      const { publisher, root, x } = showing(1);
      publisher.addVariable(root, 'late', 'i64');
      await eventuallyFor(
        target,
        'the root is chosen',
        () => target.status().progress.variables.total === 2,
      );
      x.set(7);
      const part = await queryTree(target);
      if (part.kind !== 'part') throw new Error(part.kind);
      expect(
        part.rows.map(({ name, value, metrics }) => [
          name,
          value.kind === 'none' ? value.reason : value.text,
          ...metrics.map((each) => `${each.name} ${each.why}`),
        ]),
      ).to.deep.equal([
        ['H.1.demo', 'normal'],
        ['x', '7', 'demo_root_x '],
        ['late', 'not synced', 'demo_root_late not synced yet'],
      ]);
      const words = await queryTree(target, { words: ['late'], field: 'variable' });
      expect(words.kind === 'part' && words.rows).to.have.lengthOf(2);
      expect(await queryTree(target, { object: 'H.1.demo.x' })).to.deep.equal({
        kind: 'no-object',
      });
    });

    it('ends a tree query when its target ends', async () => {
      const { publisher, root } = showing(1);
      for (let i = 0; i < 3000; i++) publisher.addObject(root, `H.1.demo.o${i}`, 'O');
      const { target } = serve();
      await eventuallyReady(target);
      const { seen, subscription } = follow(target.queryTree(treeQuery({ words: ['nothing'] })));
      running[0]?.unsubscribe();
      await eventually('it is answered', () => subscription.closed);
      expect(seen).to.have.lengthOf(1);
    });

    it('knows the time of the last notification without a scrape, even after moves and publisher restarts', async () => {
      const { publisher } = showing(1);
      const { target } = serve();
      const newest = () => target.times().newest;
      const metric = () =>
        target.internal().find(({ name }) => name.endsWith('notification_age_seconds'))?.value;
      await eventuallyReady(target);
      expect([newest(), metric()], 'of a publisher that never notified').to.deep.equal([
        undefined,
        undefined,
      ]);
      publisher.notify();
      await eventually('it is noticed', () => newest()?.by === 'notified');
      expect(metric()).to.be.within(0, newest()?.ageSeconds ?? NaN);
      const before = newest()?.ageSeconds;
      const moved = follow(target.change({ partition: partition(1) }));
      await eventually('it moved', () => moved.subscription.closed);
      expect(newest()?.by).to.equal('notified');
      expect(newest()?.ageSeconds).to.be.above(before ?? NaN);
      const notifiedMs = nowMs();
      publisher.notify();
      const isNoticed = () => Number(metric()) * 1000 <= nowMs() - notifiedMs;
      await eventually('it is noticed after the move', isNoticed);
      publisher.close();
      await eventuallyFor(target, 'it waits', () => !target.status().isReady);
      expect([newest(), metric()], 'without a publisher').to.deep.equal([undefined, undefined]);
      const next = publishers.make('82');
      next.notify();
      next.addRoot('H.1.demo', 'Root');
      next.place();
      await eventuallyReady(target);
      expect(newest()?.by, 'of a notification before the first poll').to.equal('earlier');
    });

    it('knows the timestamp of the publisher without a scrape', async () => {
      const publisher = publishers.make('82');
      const root = publisher.addRoot('H.1.demo', 'Root');
      publisher.setAsOf(root, 5_000_000_000n);
      publisher.place();
      const { target } = serve();
      await eventuallyReady(target);
      const newest = () => target.times().newest;
      await eventually('the first time', () => newest()?.ageSeconds === -5);
      publisher.setAsOf(root, 7_000_000_000n);
      publisher.notify();
      await eventually('the next time', () => newest()?.ageSeconds === -7);
      expect(newest()?.by).to.equal('stated');
      publisher.setAsOf(root, undefined);
      publisher.notify();
      await eventually('no time any more', () => newest()?.by === 'notified');
    });

    it('updates its metrics while no client scrapes', async () => {
      showing(1);
      const { target } = serve();
      await eventuallyReady(target);
      const ratio = () =>
        Number(target.internal().find(({ name }) => name.endsWith('busy_idle_ratio'))?.value);
      await eventually('work is reported', () => ratio() > 0);
      const before = ratio();
      await eventually('the time without work is, too', () => ratio() < before);
    });

    it('counts each refresh once in both of its histograms', async () => {
      showing(1);
      const { target } = serve();
      await eventuallyReady(target);
      for (let scrapes = 0; scrapes < 3; scrapes++) await ask(target, seriesOf);
      const counts = target.internalDetails().filter(({ suffix }) => suffix === '_count');
      const total = target.internal().find(({ name }) => name.endsWith('refresh_total'))?.value;
      expect(total).to.be.above(3);
      expect(counts.map(({ name, value }) => [name, value])).to.deep.equal([
        ['shm_exporter_target_refresh_duration_seconds', total],
        ['shm_exporter_target_queue_wait_seconds', total],
      ]);
    });

    it('removes a target without an effect on other targets', async () => {
      showing(1);
      const one = serve();
      const { target } = serve();
      await eventuallyReady(one.target);
      await eventuallyReady(target);
      running[0]?.unsubscribe();
      expect(await ask(target, seriesOf)).to.deep.equal([line(1)]);
    });
  });

describe('a partition whose thread has ended', () => {
  const publishers = new Publishers();
  afterEach(() => publishers.closeAll());

  it('restarts, and its targets report the reason until they have the same roots again', async function () {
    const publisher = publishers.make('82');
    publisher.addVariable(publisher.addRoot('H.1.demo', 'Root'), 'x', 'u64').set(1);
    publisher.place();
    const workers: Worker[] = [];
    const start = partitionThreads(BUNDLED_THREAD);
    const waiter = new FutexWaiter();
    const partition = new ThreadedPartition(
      { number: 7, contextId: publishers.contextId, poolName: 'pool', kernel: kernelCode() },
      posixMemory(waiter),
      (setup) => {
        const worker = start(setup);
        workers.push(worker);
        return worker;
      },
    );
    const target = new ServedTarget({
      definition: definitionOf(),
      partition,
      rebalances: { moves: 0, lastMs: 0 },
      unixMs: () => 0,
      nowMs,
    });
    const { seen, subscription } = follow(target.run());
    try {
      await eventuallyReady(target);
      await ask(target, seriesOf);
      const refreshes = () =>
        Number(target.internal().find(({ name }) => name.endsWith('refresh_total'))?.value);
      const counted = [refreshes()];
      // If the target did not know its former root, it would choose this root.
      publisher.addRoot('H.0.demo', 'Root');
      const asked = follow(target.queryTree(treeQuery()));
      await workers[0]?.terminate();
      await eventuallyFor(target, 'it waits', () => !target.status().isReady);
      await eventually('the query is answered', () => asked.subscription.closed);
      const none = {
        kind: 'no-tree',
        reason: 'the worker partition does not run this target at the moment',
      };
      expect(asked.seen).to.have.lengthOf(1);
      expect(await queryTree(target)).to.deep.equal(none);
      counted.push(refreshes());
      expect(target.status().progress.reason).to.match(/partition 7 failed: its thread ended/);
      expect(await ask(target, ({ kind }) => kind)).to.equal('waiting');
      await eventuallyReady(target, PARTITION_RETRY_MS * 2);
      expect(target.status().root).to.equal('H.1.demo');
      expect(await ask(target, seriesOf)).to.have.length(1);
      counted.push(refreshes());
      expect(counted).to.deep.equal(counted.toSorted((a, b) => a - b));
      expect(counted[2]).to.be.above(counted[1] ?? NaN);
      expect(workers).to.have.length(2);
      expect(seen.some(({ level }) => level === 'warning')).to.equal(true);
    } finally {
      subscription.unsubscribe();
      partition.close();
      waiter.close();
    }
  });
});
