// Tests the limit of objects and variables in one segment.
import { expect } from 'chai';
import { truncateSync } from 'node:fs';
import { Budget } from '#app/budget.js';
import { posixMemory } from '#app/native/os/posix.js';
import { SegmentPoller, segmentPollers } from '#app/native/segment/segment-poller.js';
import type { PublishedObject } from '#app/native/publisher/publisher-options.js';
import { freshSegments } from '../../support/segments.js';

describe('The limit of objects and variables in one segment', () => {
  const segments = freshSegments();

  it('excludes a larger segment, with a reason that names the setting and its value', () => {
    const publisher = segments.publish('82');
    const root = publisher.addRoot('r', 'C');
    publisher.addVariable(root, 'u', 'u64').set(1);
    const verdictAt = (segmentMaxItems: number) => {
      const pool = { contextId: segments.contextId, poolName: 'pool', segmentMaxItems };
      const poller = segmentPollers(posixMemory(), pool)('82');
      const { publisher: verdict } = poller.poll();
      poller.close();
      return verdict;
    };
    expect(verdictAt(2).state).to.equal('live');
    publisher.addVariable(root, 'v', 'u64').set(1);
    expect(verdictAt(2)).to.include({
      state: 'corrupt',
      reason: 'Segment is corrupt: it has more than 2 objects and variables (segment_max_items)',
    });
    publisher.removeObject(publisher.addObject(root, 'r.gone', 'C'));
    expect(verdictAt(3).state, 'what is gone does not count').to.equal('corrupt');
    expect(verdictAt(4).state).to.equal('live');
  });

  const capacity = { records: 2000, stringBytes: 1 << 20, slots: 4000, frameBytes: 4096 };
  const watched = (serverKey: string) => {
    const publisher = segments.publish(serverKey, { capacity });
    const root = publisher.addRoot('r', 'C');
    const pool = { contextId: segments.contextId, poolName: 'pool', segmentMaxItems: 1000 };
    const poller = segmentPollers(posixMemory(), pool)(serverKey);
    /** Polls until the whole directory is read, and returns the state. */
    const settled = () => {
      for (;;) {
        const { hasMore, isReclaiming, publisher: seen, source } = poller.poll();
        if (!hasMore && isReclaiming !== true) return { state: seen.state, source };
      }
    };
    return { publisher, root, settled, close: () => poller.close() };
  };

  it('gives a larger segment the state corrupt, even while a retry reads the directory in slices', () => {
    const publisher = segments.publish('82', {
      capacity: { ...capacity, records: 4000 },
    });
    const root = publisher.addRoot('r', 'C');
    for (let i = 0; i < 3000; i++) publisher.addObject(root, `r.c${i}`, 'C');
    let hours = 0n;
    const nowNs = () => process.hrtime.bigint() + hours * 3_600_000_000_000n;
    const pool = { contextId: segments.contextId, poolName: 'pool', segmentMaxItems: 2900 };
    const poller = segmentPollers(posixMemory(), { ...pool, nowNs })('82');
    let seen = poller.poll();
    expect(seen).to.deep.include({ hasMore: true });
    while (seen.hasMore) seen = poller.poll();
    expect(seen.publisher.state).to.equal('corrupt');
    hours += 1n;
    const retry = [poller.poll()];
    while (retry.at(-1)?.hasMore === true) retry.push(poller.poll());
    expect(retry.length).to.be.above(1);
    expect(retry.map((each) => each.publisher.state)).to.deep.equal(retry.map(() => 'corrupt'));
    poller.close();
  });

  it('is not exceeded by objects that come and go between two polls', () => {
    const { publisher, root, settled, close } = watched('82');
    const there: PublishedObject[] = [];
    let count = 0;
    const add = () => there.push(publisher.addObject(root, `r.c${count++}`, 'C'));
    while (count < 900) add();
    expect(settled().state).to.equal('live');
    // More records than a directory can hold, so the publisher must switch to the other directory.
    for (let i = 0; i < 600; i++) {
      const first = there.shift();
      if (first !== undefined) publisher.removeObject(first);
      add();
    }
    const { state, source } = settled();
    expect(state).to.equal('live');
    const [tree] = source?.roots ?? [];
    expect([...(tree?.children ?? [])].map(({ name }) => name)).to.deep.equal(
      Array.from({ length: 900 }, (_, i) => `r.c${600 + i}`),
    );
    for (let i = 0; i < 100; i++) add();
    expect(settled().state, 'more than it may have').to.equal('corrupt');
    close();
  });

  it('is not exceeded by the replacement of a large object between two polls', () => {
    const { publisher, root, settled, close } = watched('83');
    const withVariables = (many: number) => {
      const object = publisher.addObject(root, 'r.sub', 'C');
      for (let i = 0; i < many; i++) publisher.addVariable(object, `v${i}`, 'u64').set(1);
      return object;
    };
    const first = withVariables(800);
    expect(settled().state).to.equal('live');
    publisher.removeObject(first);
    withVariables(400);
    const { state, source } = settled();
    expect(state).to.equal('live');
    const [tree] = source?.roots ?? [];
    expect([...(tree?.children ?? [])].map(({ variables }) => variables.size)).to.deep.equal([400]);
    close();
  });
});

describe('A segment that changed its directory often and then became corrupt', () => {
  const segments = freshSegments();

  it('can be replaced by a new segment, which is live within two seconds', () => {
    const publish = () => {
      const capacity = { records: 256, stringBytes: 1 << 14, slots: 512, frameBytes: 4096 };
      const publisher = segments.publish('82', { capacity, heartbeatMs: 0 });
      const root = publisher.addRoot('r', 'C');
      const there = Array.from({ length: 100 }, (_, i) => publisher.addObject(root, `r.${i}`, 'C'));
      return { publisher, root, there };
    };
    let nowNs = 0n;
    // The clock advances by a millisecond at each call.
    const nextNs = () => (nowNs += 1_000_000n);
    const budget = () => new Budget({ steps: 64 });
    const poller = new SegmentPoller(posixMemory(), segments.name('82'), '82', {
      nowNs: nextNs,
      budget,
    });
    const settled = () => {
      for (;;) {
        const { hasMore, isReclaiming, publisher } = poller.poll();
        if (!hasMore && isReclaiming !== true) return publisher.state;
      }
    };
    const { publisher, root, there } = publish();
    for (let round = 0; round < 300; round++) {
      for (let i = 0; i < 100; i++) {
        const [first] = there.splice(0, 1);
        if (first !== undefined) publisher.removeObject(first);
        there.push(publisher.addObject(root, `r.${100 * round + 100 + i}`, 'C'));
      }
      expect(settled()).to.equal('live');
      nowNs += 1_000_000_000n;
    }
    truncateSync(`/dev/shm/${segments.name('82')}`, 8192);
    nowNs += 1_000_000_000n;
    expect(settled()).to.equal('corrupt');
    publisher.close();
    publish();
    nowNs += 2_000_000_000n;
    expect(settled()).to.equal('live');
    poller.close();
  });
});
