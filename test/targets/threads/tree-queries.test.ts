// Looks at trees that cross threads: each has one answer, and ends with whoever asked.
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { EMPTY, catchError } from 'rxjs';
import type { TreeAnswer } from '#app/model.js';
import { posixMemory } from '#app/native/os/posix.js';
import type { FromThread, ToThread } from '#app/targets/threads/messages.js';
import { ThreadedPartition } from '#app/targets/threads/threaded-partition.js';
import { definitionOf } from '../../support/definition-of.js';
import { follow } from '../../support/follow.js';
import { treeQuery } from '../../support/tree-query.js';

/** A thread that says what the test has it say. */
class Puppet extends EventEmitter {
  readonly heard: ToThread[] = [];
  postMessage(message: ToThread): void {
    this.heard.push(message);
  }
  terminate(): void {
    this.removeAllListeners();
  }
  answer(id: number, answer: TreeAnswer | undefined): void {
    this.emit('message', { kind: 'answered', id, answer } satisfies FromThread);
  }
}

describe('tree queries of a thread', () => {
  const NONE: TreeAnswer = { kind: 'no-object' };
  const stage = () => {
    const puppet = new Puppet();
    const partition = new ThreadedPartition(
      { number: 0, contextId: 'none', poolName: 'pool' },
      posixMemory(),
      () => puppet,
    );
    const hosted = partition.host(definitionOf());
    const run = () => follow(hosted.report$.pipe(catchError(() => EMPTY)));
    const ask = () => follow(hosted.queryTree(treeQuery()));
    const heard = (kind: ToThread['kind']) => puppet.heard.filter((each) => each.kind === kind);
    return { puppet, partition, run, ask, heard };
  };

  it('get the answer to their own query', () => {
    const { puppet, run, ask, heard } = stage();
    const { subscription } = run();
    const [first, second] = [ask(), ask()];
    expect(heard('query')).to.deep.equal(
      [1, 2].map((number) => ({ kind: 'query', target: 1, id: number, query: treeQuery() })),
    );
    puppet.answer(2, NONE);
    expect(first.seen).to.deep.equal([]);
    expect(second.seen).to.deep.equal([NONE]);
    expect(second.subscription.closed).to.equal(true);
    puppet.answer(2, NONE);
    expect(second.seen).to.have.lengthOf(1);
    first.subscription.unsubscribe();
    subscription.unsubscribe();
  });

  it('tell the thread when nobody waits any more, but not once they are answered', () => {
    const { puppet, run, ask, heard } = stage();
    const { subscription } = run();
    const [first, second] = [ask(), ask()];
    puppet.answer(1, undefined);
    expect(first.seen).to.deep.equal([]);
    expect(first.subscription.closed).to.equal(true);
    second.subscription.unsubscribe();
    expect(heard('end-query')).to.deep.equal([{ kind: 'end-query', id: 2 }]);
    puppet.answer(2, NONE);
    expect(second.seen).to.deep.equal([]);
    subscription.unsubscribe();
  });

  it('end without an answer when the thread does', () => {
    const { puppet, run, ask } = stage();
    const reports = run();
    const { seen, subscription } = ask();
    puppet.emit('error', new Error('torn'));
    expect(seen).to.deep.equal([]);
    expect(subscription.closed).to.equal(true);
    expect(reports.subscription.closed).to.equal(true);
  });

  it('end at once where the target does not run', () => {
    const { ask, heard } = stage();
    expect(ask().subscription.closed).to.equal(true);
    expect(heard('query')).to.deep.equal([]);
  });
});
