// A partition in a worker thread. Ends the thread if one of its targets does not report for 30 seconds.
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
import type { FoundRoot, TreeAnswer, TreeQuery } from '../../model.js';
import type { SharedMemory } from '../../native/os/shared-memory.js';
import type { Refresh, RefreshReport, Report } from '../../streams/report.js';
import { threadOf } from '../../thread-code.js';
import type { TargetDefinition } from '../formats.js';
import type { HostedTarget, Partition } from '../partitions/logical-partition.js';
import { FileProxy } from './remote-memory.js';
import type { FromThread, ThreadSetup, ToThread } from './messages.js';
import { SnapshotReceiver, release } from './snapshot-receiver.js';
import type { ThreadMemory } from './snapshot-receiver.js';

/** The longest time between two reports of a target. A ready target without changes reports every four seconds. */
export const MAX_SILENCE_MS = 30_000;
/** The time to receive messages that arrived while this process was suspended. */
const GRACE_MS = 1000;

/** Calls `end` after `MAX_SILENCE_MS` without a report; the end of the thread then ends the stream. */
export const watchdog = <T>(
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

type RefreshedMessage = Extract<FromThread, { kind: 'refreshed' }>;

interface RemoteTarget {
  readonly subscriber: Subscriber<Report>;
  readonly receiver: SnapshotReceiver;
  /** The subscriber to the report on the open refresh. */
  refresh: Subscriber<RefreshReport> | undefined;
}

/** The part of a `Worker` that a partition uses. */
export interface ThreadWorker {
  on(event: 'message', listener: (message: FromThread) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'exit', listener: (code: number) => void): unknown;
  postMessage(message: ToThread): void;
  terminate(): unknown;
}

interface Thread {
  readonly worker: ThreadWorker;
  readonly files: FileProxy;
  readonly memory: ThreadMemory;
  readonly targets: Map<number, RemoteTarget>;
  /** The subscribers to answers, by the number of the query. */
  readonly queries: Map<number, Subscriber<TreeAnswer>>;
  /** Ends the thread, and fails its targets with the reason. */
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

  /** @param memory calls foreign functions in the main thread, to check locks and to wait for notifications */
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

  host(definition: TargetDefinition, formerRoot?: FoundRoot): HostedTarget {
    const target = ++this.#lastTarget;
    const report$ = defer(() => {
      const thread = (this.#thread ??= this.#start());
      const report$ = new Observable<Report>((subscriber) => {
        const receiver = new SnapshotReceiver(thread.memory);
        thread.targets.set(target, { subscriber, receiver, refresh: undefined });
        thread.worker.postMessage({ kind: 'start', target, definition, formerRoot });
        return () => {
          thread.targets.delete(target);
          thread.worker.postMessage({ kind: 'stop', target });
        };
      });
      const silent = () => {
        thread.end(`its thread was silent for ${MAX_SILENCE_MS / 1000} seconds`);
      };
      return report$.pipe(watchdog(silent, this.#scheduler));
    });
    return {
      report$,
      refresh: (refresh) => this.#refresh(target, refresh),
      queryTree: (query) => this.#queryTree(target, query),
    };
  }

  /** Never emits if the target does not run in a thread. */
  #refresh(target: number, refresh: Refresh): Observable<RefreshReport> {
    return new Observable((subscriber) => {
      const running = this.#thread?.targets.get(target);
      if (running === undefined) return;
      running.refresh = subscriber;
      this.#thread?.worker.postMessage({ kind: 'refresh', target, refresh });
    });
  }

  /** Completes without an answer if the target does not run in a thread. */
  #queryTree(target: number, query: TreeQuery): Observable<TreeAnswer> {
    return defer(() => {
      const thread = this.#thread;
      if (thread?.targets.has(target) !== true) return EMPTY;
      const { worker, queries } = thread;
      return new Observable<TreeAnswer>((subscriber) => {
        const id = ++this.#lastQuery;
        queries.set(id, subscriber);
        worker.postMessage({ kind: 'query', target, id, query });
        return () => {
          if (queries.delete(id)) worker.postMessage({ kind: 'end-query', id });
        };
      });
    });
  }

  /** Ends the thread; its targets must have ended before. */
  close(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    thread?.files.close();
    void thread?.worker.terminate();
  }

  #start(): Thread {
    const worker = this.#startWorker(this.#setup);
    const files = new FileProxy(this.#memory, (reply) => {
      worker.postMessage(reply);
    });
    const memory = { buffer: new SharedArrayBuffer(0) };
    const ended = (reason: string) => {
      if (this.#thread === thread) this.#thread = undefined;
      files.close();
      for (const target of [...thread.targets.values()]) fail(target, reason);
      for (const subscriber of [...thread.queries.values()]) subscriber.complete();
    };
    const thread: Thread = {
      ...{ worker, files, memory, targets: new Map(), queries: new Map() },
      end: (reason) => {
        ended(reason);
        void worker.terminate();
      },
    };
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'report')
        thread.targets.get(message.target)?.subscriber.next(message.report);
      else if (message.kind === 'refreshed') receive(thread, message);
      else if (message.kind === 'answered') answer(thread, message);
      else if (message.kind === 'failed') fail(thread.targets.get(message.target), message.reason);
      else files.handle(message);
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

/** Reads the code of partition threads; returns a function that starts a thread. */
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

const fail = (target: RemoteTarget | undefined, reason: string): void =>
  target?.subscriber.error(new Error(reason));

/**
 * Emits the report on a refresh, with a snapshot that this thread can read. If the target has ended, releases the
 * snapshot.
 */
function receive({ memory, targets }: Thread, { report, ...message }: RefreshedMessage): void {
  const target = targets.get(message.target);
  const { snapshot: sent } = report;
  // All targets of the thread render in this memory.
  if (sent?.memory !== undefined) memory.buffer = sent.memory;
  if (target !== undefined)
    target.receiver.receive(sent, (snapshot) => {
      target.refresh?.next({ ...report, snapshot });
    });
  else if (sent !== undefined) release(sent);
}
