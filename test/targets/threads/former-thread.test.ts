// Tests a partition whose former thread is still ending while its next thread runs.
import { expect } from 'chai';
import { catchError, map, of } from 'rxjs';
import { newCounters } from '#app/exposition/counters.js';
import { messageOf } from '#app/errors.js';
import type { SegmentFile } from '#app/native/os/shared-memory.js';
import { unknownState } from '#app/streams/report.js';
import type { Refresh } from '#app/model.js';
import type { FromThread } from '#app/targets/threads/messages.js';
import { MAX_SILENCE_MS, ThreadedPartition } from '#app/targets/threads/threaded-partition.js';
import { definitionOf } from '../../support/definition-of.js';
import { FakeWorker } from '../../support/fake-thread.js';
import { follow } from '../../support/follow.js';
import { treeQuery } from '../../support/tree-query.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const REFRESH: Refresh = { kind: 'refresh', mayRender: true, forms: [] };
const OPENED: FromThread = { kind: 'opened', file: 1, name: 'x', identity: 'a' };

describe('the next thread of a partition', () => {
  const setUp = () => {
    const workers: FakeWorker[] = [];
    const clock = new VirtualClock();
    const answers: ((isLocked: boolean) => void)[] = [];
    const files = { open: 0 };
    const file: SegmentFile = {
      identity: 'a',
      ownership: { uid: 0, isWritableByAll: false },
      read: () => 0,
      size: () => 0,
      nameState: () => 'kept',
      askLock: (answer) => answers.push(answer),
      wait: () => () => undefined,
      close: () => files.open--,
    };
    const open = () => {
      files.open++;
      return file;
    };
    const setup = { number: 0, contextId: 'none', poolName: 'pool' };
    const start = () => {
      const worker = new FakeWorker();
      workers.push(worker);
      return worker;
    };
    const partition = new ThreadedPartition(setup, { open }, start, clock);
    const host = () => {
      const hosted = partition.host(definitionOf());
      const reports$ = hosted.report$.pipe(
        map(({ kind }): string => kind),
        catchError((error: unknown) => of(messageOf(error))),
      );
      return { hosted, ...follow(reports$) };
    };
    const worker = (index: number): FakeWorker => workers[index] ?? expect.fail('no thread');
    const report = (index: number, target: number): void => {
      const counted = { tasks: [], counts: newCounters() };
      const state = unknownState('82');
      worker(index).send({
        kind: 'report',
        id: target,
        report: { kind: 'state', state, ...counted },
      });
    };
    return { workers, worker, clock, partition, host, report, files, answers };
  };

  /** The ways in which a thread can end, and the reason that its targets then report. */
  const ends: readonly {
    readonly title: string;
    readonly reason: string;
    readonly end: (worker: FakeWorker, clock: VirtualClock) => void;
  }[] = [
    {
      title: 'an error',
      reason: 'its thread failed: torn',
      end: (worker) => worker.emit('error', new Error('torn')),
    },
    {
      title: 'silence',
      reason: 'its thread was silent for 30 seconds',
      end: (_, clock) => {
        clock.advance(MAX_SILENCE_MS + 1000);
      },
    },
    {
      title: 'an exit',
      reason: 'its thread ended with status 1',
      end: (worker) => worker.emit('exit', 1),
    },
  ];
  for (const { title, reason, end } of ends)
    it(`gets the refreshes and queries, whatever the previous thread does after ${title}`, () => {
      const { workers, worker, clock, host, report, files } = setUp();
      const first = host();
      const other = host();
      end(worker(0), clock);
      expect([first.seen, other.seen]).to.deep.equal([[reason], [reason]]);
      const next = host();
      expect(workers).to.have.length(2);
      const { seen } = follow(next.hosted.queryTree(treeQuery()));

      // The former thread's messages, the error of `terminate()` and the event `exit` arrive late.
      report(0, 1);
      report(0, 3);
      worker(0).send({ kind: 'failed', id: 3, reason: 'late' });
      worker(0).send({ kind: 'answer', id: 4, answer: { kind: 'no-object' } });
      worker(0).send(OPENED);
      worker(0).emit('error', new Error('late'));
      worker(0).emit('exit', 1);

      expect(next.hosted.refresh(REFRESH)).to.equal(true);
      const target = 3;
      expect(worker(1).received.slice(1)).to.deep.equal([
        { kind: 'query', target, id: 4, query: treeQuery() },
        { kind: 'refresh', target, refresh: REFRESH },
      ]);
      report(1, target);
      worker(1).send({ kind: 'answer', id: 4, answer: { kind: 'no-object' } });
      expect([next.seen, seen]).to.deep.equal([['state'], [{ kind: 'no-object' }]]);
      expect([next.subscription.closed, worker(1).isTerminated]).to.deep.equal([false, false]);
      const third = host();
      expect(workers, 'the targets share the thread').to.have.length(2);
      expect(files.open, 'files of the former thread').to.equal(0);
      for (const { subscription } of [next, third]) subscription.unsubscribe();
    });

  it('keeps the locks and files of its own segments when the previous thread exits', () => {
    const { worker, host, files, answers } = setUp();
    host();
    worker(0).send(OPENED);
    worker(0).send({ kind: 'ask-lock', file: 1 });
    worker(0).emit('error', new Error('torn'));
    expect(files.open).to.equal(0);
    const next = host();
    worker(1).send(OPENED);
    worker(0).emit('exit', 1);
    expect(files.open).to.equal(1);
    // The answer to the former thread's question must not reach the new thread.
    answers[0]?.(true);
    expect(worker(1).received.map(({ kind }) => kind)).to.deep.equal(['host']);
    worker(1).send({ kind: 'ask-lock', file: 1 });
    answers[1]?.(false);
    expect(worker(1).received.slice(1)).to.deep.equal([{ kind: 'lock', file: 1, isLocked: false }]);
    next.subscription.unsubscribe();
  });

  it('is not affected when the thread of a closed partition fails and exits later', () => {
    const { worker, partition, host, files } = setUp();
    const first = host();
    worker(0).send(OPENED);
    first.subscription.unsubscribe();
    partition.close();
    expect([worker(0).isTerminated, files.open]).to.deep.equal([true, 0]);
    const next = host();
    worker(0).send(OPENED);
    worker(0).emit('error', new Error('late'));
    worker(0).emit('exit', 1);
    expect([next.seen, next.subscription.closed, files.open]).to.deep.equal([[], false, 0]);
    next.subscription.unsubscribe();
    partition.close();
  });
});
