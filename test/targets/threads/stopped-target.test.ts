// Tests reports from a worker thread that arrive after their target has stopped.
import { expect } from 'chai';
import { filter, map } from 'rxjs';
import { newCounters } from '#app/exposition/counters.js';
import { posixMemory } from '#app/native/os/posix.js';
import { unknownState } from '#app/streams/report.js';
import type { SentSnapshot } from '#app/targets/threads/snapshots.js';
import { ThreadedPartition } from '#app/targets/threads/threaded-partition.js';
import { definitionOf } from '../../support/definition-of.js';
import { FakeWorker } from '../../support/fake-thread.js';
import { follow } from '../../support/follow.js';

/** Sends the report that answers a refresh. */
function answer(worker: FakeWorker, id: number, snapshot: SentSnapshot): void {
  const counted = { tasks: [], counts: newCounters() };
  const shown = { state: unknownState('82'), hasRendered: true, isDirty: false };
  const report = { kind: 'refreshed', snapshot, ...shown, ...counted } as const;
  worker.send({ kind: 'report', id, report });
}

const METADATA = { name: 'x', type: 'gauge', unit: '', help: '' } as const;

/** Returns a snapshot with one family. Its lines are one piece of this length. */
const sent = (
  target: number,
  at: number,
  length: number,
  memory?: SharedArrayBuffer,
): SentSnapshot => ({
  target,
  holders: new Int32Array(new SharedArrayBuffer(4)).fill(1),
  layout: {
    metadata: [METADATA],
    pieces: new Map([['text', Float64Array.of(0, 1, at, length, length, 0)]]),
    violatesOpenMetrics: false,
  },
  memory,
});

describe('a text that a thread sends to a stopped target', () => {
  const setUp = () => {
    const worker = new FakeWorker();
    const partition = new ThreadedPartition(
      { number: 0, contextId: 'none', poolName: 'pool' },
      posixMemory(),
      () => worker,
    );
    const host = () => {
      const hosted = partition.host(definitionOf());
      const texts$ = hosted.report$.pipe(
        filter((report) => report.kind === 'refreshed'),
        map(({ snapshot }) => snapshot?.lines('text')?.map(({ data }) => data.toString())),
      );
      const { seen: texts, subscription } = follow(texts$);
      return { texts, subscription };
    };
    return { worker, host };
  };

  it('is released, so that the thread can reuse its memory', () => {
    const { worker, host } = setUp();
    host().subscription.unsubscribe();
    const snapshot = sent(1, 0, 5, new SharedArrayBuffer(64));
    answer(worker, 1, snapshot);
    expect([...snapshot.holders]).to.deep.equal([0]);
  });

  it('still provides the shared memory that later texts use', () => {
    const { worker, host } = setUp();
    const ended = host();
    const { texts, subscription } = host();
    ended.subscription.unsubscribe();
    const memory = new SharedArrayBuffer(128);
    Buffer.from(memory).write('hello', 50);
    answer(worker, 1, sent(1, 0, 5, memory));
    answer(worker, 2, sent(2, 50, 5));
    expect(texts).to.deep.equal([['hello']]);
    subscription.unsubscribe();
  });
});
