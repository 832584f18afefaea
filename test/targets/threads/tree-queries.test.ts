// Tree queries that cross threads: each gets one answer, and ends when its subscriber unsubscribes.
import { expect } from 'chai';
import { EMPTY, catchError } from 'rxjs';
import type { TreeAnswer } from '#app/model.js';
import { posixMemory } from '#app/native/os/posix.js';
import type { ToThread } from '#app/targets/threads/messages.js';
import { ThreadedPartition } from '#app/targets/threads/threaded-partition.js';
import { definitionOf } from '../../support/definition-of.js';
import { FakeWorker } from '../../support/fake-thread.js';
import { follow } from '../../support/follow.js';
import { treeQuery } from '../../support/tree-query.js';

describe('a tree query to a worker thread', () => {
  const NONE: TreeAnswer = { kind: 'no-object' };
  const setUp = () => {
    const worker = new FakeWorker();
    const partition = new ThreadedPartition(
      { number: 0, contextId: 'none', poolName: 'pool' },
      posixMemory(),
      () => worker,
    );
    const hosted = partition.host(definitionOf());
    const run = () => follow(hosted.report$.pipe(catchError(() => EMPTY)));
    const ask = () => follow(hosted.queryTree(treeQuery()).pipe(catchError(() => EMPTY)));
    const received = (kind: ToThread['kind']) =>
      worker.received.filter((each) => each.kind === kind);
    const answer = (id: number, answer: TreeAnswer | undefined) =>
      worker.send({ kind: 'answer', id, answer });
    return { worker, partition, run, ask, received, answer };
  };

  it('gets its own answer', () => {
    const { run, ask, received, answer } = setUp();
    const { subscription } = run();
    const [first, second] = [ask(), ask()];
    expect(received('query')).to.deep.equal(
      [2, 3].map((id) => ({ kind: 'query', target: 1, id, query: treeQuery() })),
    );
    answer(3, NONE);
    expect(first.seen).to.deep.equal([]);
    expect(second.seen).to.deep.equal([NONE]);
    expect(second.subscription.closed).to.equal(true);
    answer(3, NONE);
    expect(second.seen).to.have.lengthOf(1);
    first.subscription.unsubscribe();
    subscription.unsubscribe();
  });

  it('is cancelled in the thread if its subscriber unsubscribes before the answer', () => {
    const { run, ask, received, answer } = setUp();
    const { subscription } = run();
    const [first, second] = [ask(), ask()];
    answer(2, undefined);
    expect(first.seen).to.deep.equal([]);
    expect(first.subscription.closed).to.equal(true);
    second.subscription.unsubscribe();
    expect(received('cancel')).to.deep.equal([{ kind: 'cancel', id: 3 }]);
    answer(3, NONE);
    expect(second.seen).to.deep.equal([]);
    subscription.unsubscribe();
  });

  it('ends without an answer when the thread ends', () => {
    const { worker, run, ask } = setUp();
    const reports = run();
    const { seen, subscription } = ask();
    worker.emit('error', new Error('torn'));
    expect(seen).to.deep.equal([]);
    expect(subscription.closed).to.equal(true);
    expect(reports.subscription.closed).to.equal(true);
  });

  it('ends at once if the target does not run', () => {
    const { ask, received } = setUp();
    expect(ask().subscription.closed).to.equal(true);
    expect(received('query')).to.deep.equal([]);
  });
});
