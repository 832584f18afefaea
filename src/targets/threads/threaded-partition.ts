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
  finalize,
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
import type { FoundRoot, TreeAnswer } from '../../model.js';
import type { SharedMemory } from '../../native/os/shared-memory.js';
import type { Report } from '../../streams/report.js';
import { threadOf } from '../../thread-code.js';
import type { TargetDefinition } from '../formats.js';
import type { HostedTarget, Partition } from '../partitions/logical-partition.js';
import { FileProxy } from './remote-memory.js';
import type { FromThread, ThreadRequest, ThreadSetup, ToThread } from './messages.js';
import { SnapshotReceiver } from './snapshots.js';

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
  readonly snapshots: SnapshotReceiver;
  /** The subscribers to the open requests, by their ids. */
  readonly requests: Map<number, Subscriber<unknown>>;
  /** Ends the thread, and fails its requests with the reason. */
  readonly end: (reason: string) => void;
}

export class ThreadedPartition implements Partition {
  readonly number: number;
  readonly #setup: ThreadSetup;
  readonly #memory: SharedMemory;
  readonly #startWorker: (setup: ThreadSetup) => ThreadWorker;
  readonly #scheduler: SchedulerLike;
  #thread: Thread | undefined;
  #lastId = 0;

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
    const target = ++this.#lastId;
    const report$ = defer(() => {
      const thread = (this.#thread ??= this.#start());
      const silent = () => {
        thread.end(`its thread was silent for ${MAX_SILENCE_MS / 1000} seconds`);
      };
      return request<Report>(thread, { kind: 'host', id: target, definition, formerRoot }).pipe(
        watchdog(silent, this.#scheduler),
        finalize(() => {
          thread.snapshots.forget(target);
        }),
      );
    });
    return {
      report$,
      refresh: (refresh) => {
        const thread = this.#threadOf(target);
        thread?.worker.postMessage({ kind: 'refresh', target, refresh });
        return thread !== undefined;
      },
      queryTree: (query) =>
        defer(() => {
          const thread = this.#threadOf(target);
          if (thread === undefined) return EMPTY;
          return request<TreeAnswer>(thread, { kind: 'query', id: ++this.#lastId, target, query });
        }),
    };
  }

  /** The thread, if the target runs in it. */
  #threadOf(target: number): Thread | undefined {
    return this.#thread?.requests.has(target) === true ? this.#thread : undefined;
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
    const requests = new Map<number, Subscriber<unknown>>();
    const ended = (reason: string) => {
      if (this.#thread === thread) this.#thread = undefined;
      files.close();
      const open = [...requests.values()];
      requests.clear();
      for (const subscriber of open) subscriber.error(new Error(reason));
    };
    const thread: Thread = {
      ...{ worker, files, requests, snapshots: new SnapshotReceiver() },
      end: (reason) => {
        ended(reason);
        void worker.terminate();
      },
    };
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'report') receive(thread, message);
      else if (message.kind === 'answer') {
        const subscriber = requests.get(message.id);
        requests.delete(message.id);
        if (message.answer !== undefined) subscriber?.next(message.answer);
        subscriber?.complete();
      } else if (message.kind === 'failed')
        requests.get(message.id)?.error(new Error(message.reason));
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

/** Reads the file with the code of partition threads; returns a function that starts a thread. */
export function partitionThreads(
  file = new URL('thread.js', import.meta.url),
): (setup: ThreadSetup) => Worker {
  const start = threadOf(file);
  return (setup) => start({ workerData: setup, name: `partition ${setup.number}` });
}

/** Sends a request to the thread, and emits the answers. Unsubscribing cancels the request. */
const request = <T>({ worker, requests }: Thread, message: ThreadRequest): Observable<T> =>
  new Observable<T>((subscriber) => {
    requests.set(message.id, subscriber);
    worker.postMessage(message);
    return () => {
      if (requests.delete(message.id)) worker.postMessage({ kind: 'cancel', id: message.id });
    };
  });

function receive(
  { requests, snapshots }: Thread,
  { id, report }: Extract<FromThread, { kind: 'report' }>,
): void {
  const subscriber = requests.get(id);
  if (report.kind !== 'refreshed' || report.snapshot === undefined) {
    subscriber?.next(report);
    return;
  }
  // Even if the target has stopped, the thread must get the memory back, and later snapshots may use the same memory.
  snapshots.receive(report.snapshot, (snapshot) => subscriber?.next({ ...report, snapshot }));
  if (!requests.has(id)) snapshots.forget(id);
}
