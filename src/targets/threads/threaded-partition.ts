// A partition in a worker thread, which is ended if it reports nothing for a while.
import type { Worker } from 'node:worker_threads';
import {
  EMPTY,
  Observable,
  asyncScheduler,
  connect,
  defer,
  delay,
  endWith,
  ignoreElements,
  map,
  merge,
  startWith,
  switchMap,
  takeUntil,
  timer,
} from 'rxjs';
import type { MonoTypeOperatorFunction, SchedulerLike, Subscriber } from 'rxjs';
import { messageOf } from '../../errors.js';
import type { TreeAnswer, TreeQuery } from '../../model.js';
import type { SharedMemory } from '../../native/os/shared-memory.js';
import type { FormerRoot } from '../../streams/choose-root.js';
import type { Refresh, Report } from '../../streams/report.js';
import { threadOf } from '../../thread-code.js';
import type { TargetDefinition } from '../formats.js';
import type { HostedTarget, Partition } from '../hosting/partition.js';
import { FileDesk } from './file-desk.js';
import type { FromThread, ThreadSetup, ToThread } from './messages.js';
import { SnapshotReceiver, release } from './snapshot-receiver.js';
import type { ThreadMemory } from './snapshot-receiver.js';

/** A target reports once a second; its thread may be busy, but not for as long as this. */
export const MAX_SILENCE_MS = 30_000;
/** What arrived while this process did not run is heard first. */
const GRACE_MS = 1000;

/** Calls `end` when nothing was reported for `MAX_SILENCE_MS`; the end of the thread then ends the stream. */
export const unlessSilent = <T>(
  end: () => unknown,
  scheduler: SchedulerLike,
): MonoTypeOperatorFunction<T> =>
  connect((report$) =>
    merge(
      report$,
      report$.pipe(
        startWith(undefined),
        switchMap(() => timer(MAX_SILENCE_MS, scheduler).pipe(delay(GRACE_MS, scheduler))),
        map(end),
        ignoreElements(),
        takeUntil(report$.pipe(ignoreElements(), endWith(undefined))),
      ),
    ),
  );

type ReportMessage = Extract<FromThread, { kind: 'report' }>;

interface Remote {
  readonly hear: (message: ReportMessage) => void;
  readonly fail: (reason: string) => void;
}

/** What is used of a worker. */
export interface ThreadWorker {
  on(event: 'message', hear: (message: FromThread) => void): unknown;
  on(event: 'error', hear: (error: unknown) => void): unknown;
  on(event: 'exit', hear: (code: number) => void): unknown;
  postMessage(message: ToThread): void;
  terminate(): unknown;
}

interface Thread {
  readonly worker: ThreadWorker;
  readonly desk: FileDesk;
  readonly memory: ThreadMemory;
  readonly remotes: Map<number, Remote>;
  /** Those who wait for an answer, by the query number. */
  readonly queries: Map<number, Subscriber<TreeAnswer>>;
  /** Ends it, and fails its targets with the reason. */
  readonly end: (reason: string) => void;
}

export class ThreadedPartition implements Partition {
  readonly number: number;
  readonly #setup: ThreadSetup;
  readonly #memory: SharedMemory;
  readonly #startWorker: (setup: ThreadSetup) => ThreadWorker;
  readonly #scheduler: SchedulerLike;
  #thread: Thread | undefined;
  #lastTarget = 0;
  #lastQuery = 0;

  /** @param memory for what a thread cannot do itself: locks and ticks */
  constructor(
    setup: ThreadSetup,
    memory: SharedMemory,
    startWorker: (setup: ThreadSetup) => ThreadWorker,
    scheduler: SchedulerLike = asyncScheduler,
  ) {
    this.number = setup.number;
    this.#setup = setup;
    this.#memory = memory;
    this.#startWorker = startWorker;
    this.#scheduler = scheduler;
  }

  host(definition: TargetDefinition, former?: FormerRoot): HostedTarget {
    const target = ++this.#lastTarget;
    let send: (message: ToThread) => void = () => undefined;
    const report$ = defer(() => {
      const thread = (this.#thread ??= this.#start());
      send = (message) => {
        thread.worker.postMessage(message);
      };
      const report$ = new Observable<Report>((subscriber) => {
        const receiver = new SnapshotReceiver(thread.memory);
        thread.remotes.set(target, {
          hear: ({ report }) => {
            pass(report, receiver, subscriber);
          },
          fail: (reason) => {
            subscriber.error(new Error(reason));
          },
        });
        send({ kind: 'start', target, definition, former });
        return () => {
          thread.remotes.delete(target);
          send({ kind: 'stop', target });
        };
      });
      const silent = () => {
        thread.end(`its thread was silent for ${MAX_SILENCE_MS / 1000} seconds`);
      };
      return report$.pipe(unlessSilent(silent, this.#scheduler));
    });
    return {
      report$,
      send: (refresh: Refresh) => {
        send({ kind: 'refresh', target, refresh });
      },
      queryTree: (query) => this.#queryTree(target, query),
    };
  }

  /** Empty while there is no thread, and where the target does not run in it. */
  #queryTree(target: number, query: TreeQuery): Observable<TreeAnswer> {
    return defer(() => {
      const thread = this.#thread;
      if (thread?.remotes.has(target) !== true) return EMPTY;
      const { worker, queries } = thread;
      const send = (message: ToThread): void => {
        worker.postMessage(message);
      };
      return new Observable<TreeAnswer>((subscriber) => {
        const id = ++this.#lastQuery;
        queries.set(id, subscriber);
        send({ kind: 'query', target, id, query });
        return () => {
          if (queries.delete(id)) send({ kind: 'end-query', id });
        };
      });
    });
  }

  /** Ends the thread; its targets must have ended before. */
  close(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    thread?.desk.close();
    void thread?.worker.terminate();
  }

  #start(): Thread {
    const worker = this.#startWorker(this.#setup);
    const desk = new FileDesk(this.#memory, (reply) => {
      worker.postMessage(reply);
    });
    const memory = { buffer: new SharedArrayBuffer(0) };
    const ended = (reason: string) => {
      if (this.#thread === thread) this.#thread = undefined;
      desk.close();
      for (const remote of [...thread.remotes.values()]) remote.fail(reason);
      for (const subscriber of [...thread.queries.values()]) subscriber.complete();
    };
    const thread: Thread = {
      ...{ worker, desk, memory, remotes: new Map(), queries: new Map() },
      end: (reason) => {
        ended(reason);
        void worker.terminate();
      },
    };
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'report') hear(thread, message);
      else if (message.kind === 'answered') answer(thread, message);
      else if (message.kind === 'failed') thread.remotes.get(message.target)?.fail(message.reason);
      else desk.hear(message);
    });
    worker.on('error', (error) => {
      ended(`its thread failed: ${messageOf(error)}`);
    });
    worker.on('exit', (code) => {
      ended(`its thread ended with status ${code}`);
    });
    return thread;
  }
}

/** Reads the code of partition threads and returns a function that starts one. */
export function partitionThreads(): (setup: ThreadSetup) => Worker {
  const start = threadOf(new URL('thread.js', import.meta.url));
  return (setup) => start({ workerData: setup, name: `partition ${setup.number}` });
}

function answer(
  { queries }: Thread,
  { id, answer }: Extract<FromThread, { kind: 'answered' }>,
): void {
  const subscriber = queries.get(id);
  queries.delete(id);
  if (answer !== undefined) subscriber?.next(answer);
  subscriber?.complete();
}

/** A report may arrive after its target has ended: then nothing holds its snapshot. */
function hear({ memory, remotes }: Thread, message: ReportMessage): void {
  const sent = message.report.kind === 'refreshed' ? message.report.snapshot : undefined;
  // Whichever target it is for: the others of the thread render there as well.
  if (sent?.memory !== undefined) memory.buffer = sent.memory;
  const remote = remotes.get(message.target);
  if (remote !== undefined) remote.hear(message);
  else if (sent !== undefined) release(sent);
}

/** Passes a report on, with what was sent as a snapshot of this thread. */
function pass(
  report: ReportMessage['report'],
  receiver: SnapshotReceiver,
  subscriber: Subscriber<Report>,
): void {
  if (report.kind !== 'refreshed') {
    subscriber.next(report);
    return;
  }
  receiver.receive(report.snapshot, (snapshot) => {
    subscriber.next({ ...report, snapshot });
  });
}
