// A partition in its thread: runs targets as the main thread commands.
import {
  EMPTY,
  Subject,
  catchError,
  defaultIfEmpty,
  defer,
  finalize,
  map,
  merge,
  mergeMap,
  of,
  switchMap,
  takeUntil,
  tap,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { messageOf } from '../../errors.js';
import type { Refresh, RefreshReport } from '../../streams/report.js';
import { pollerPools } from '../../streams/poller-pool.js';
import { formatPollers } from '../formats.js';
import { CatalogueCache } from '../../catalogue/builtin.js';
import { LogicalPartition } from '../partitions/logical-partition.js';
import type { HostedTarget, PartitionParts } from '../partitions/logical-partition.js';
import type { FromThread, SentReport, ThreadSetup, ToThread } from './messages.js';
import { RemoteMemory } from './remote-memory.js';
import type { FileMessage, OpenFile } from './remote-memory.js';
import { SnapshotSender } from './snapshot-sender.js';

export interface ThreadParts extends Pick<
  PartitionParts,
  'nowMs' | 'budget' | 'scheduler' | 'tasks'
> {
  readonly setup: ThreadSetup;
  /** Opens a file for reading; by default a file in shared memory. */
  readonly open?: OpenFile | undefined;
  /** Nanoseconds of the heartbeat clock; by default the system's. */
  readonly nowNs?: (() => bigint) | undefined;
}

interface RunningTarget {
  readonly hosted: HostedTarget;
  readonly refresh$: Subject<Refresh>;
  readonly end$: Subject<void>;
}

export class PartitionThread {
  readonly #fileMessage$ = new Subject<FileMessage>();
  readonly #memory: RemoteMemory;
  readonly #partition: LogicalPartition;
  readonly #sender = new SnapshotSender();
  readonly #running = new Map<number, RunningTarget>();
  /** A subject for each open query; its emission ends the query. */
  readonly #queries = new Map<number, Subject<void>>();

  constructor({ setup, open, nowNs, ...parts }: ThreadParts) {
    this.#memory = new RemoteMemory((message) => {
      this.#fileMessage$.next(message);
    }, open);
    const formats = formatPollers({ memory: this.#memory, nowNs, ...setup });
    const pools = pollerPools(formats, parts);
    const thread = { ...parts, pools, catalogues: new CatalogueCache() };
    this.#partition = new LogicalPartition(setup.number, thread);
  }

  /** Handles messages from the main thread, and emits messages to it, while the result has a subscriber. */
  run(message$: Observable<ToThread>): Observable<FromThread> {
    return merge(this.#fileMessage$, message$.pipe(mergeMap((message) => this.#handle(message))));
  }

  #handle(message: ToThread): Observable<FromThread> {
    switch (message.kind) {
      case 'start':
        return this.#start(message);
      case 'query':
        return this.#queryTree(message);
      case 'refresh':
        // Release unheld snapshots before the render, so that the render can reuse their memory.
        this.#sender.releaseUnheld();
        this.#running.get(message.target)?.refresh$.next(message.refresh);
        break;
      case 'stop':
        this.#running.get(message.target)?.end$.next();
        break;
      case 'end-query':
        this.#queries.get(message.id)?.next();
        break;
      default:
        this.#memory.handle(message);
    }
    return EMPTY;
  }

  #start({
    target,
    definition,
    formerRoot,
  }: Extract<ToThread, { kind: 'start' }>): Observable<FromThread> {
    const hosted = this.#partition.host(definition, formerRoot);
    const end$ = new Subject<void>();
    const refresh$ = new Subject<Refresh>();
    this.#running.set(target, { hosted, refresh$, end$ });
    const reports$ = hosted.report$.pipe(
      map((report): FromThread => ({ kind: 'report', target, report })),
    );
    const refreshed$ = refresh$.pipe(
      switchMap((refresh) => hosted.refresh(refresh)),
      map((report): FromThread => {
        return { kind: 'refreshed', target, report: this.#sent(target, report) };
      }),
    );
    return merge(refreshed$, reports$).pipe(
      tap(() => {
        this.#sender.releaseUnheld();
      }),
      catchError((error: unknown) =>
        of<FromThread>({ kind: 'failed', target, reason: messageOf(error) }),
      ),
      takeUntil(end$),
      finalize(() => {
        this.#running.delete(target);
        this.#sender.forget(target);
      }),
    );
  }

  /** Emits one answer; the answer is undefined if the target does not run here or the query fails. */
  #queryTree({ target, id, query }: Extract<ToThread, { kind: 'query' }>): Observable<FromThread> {
    return defer(() => {
      const end$ = new Subject<void>();
      this.#queries.set(id, end$);
      const answer$ = this.#running.get(target)?.hosted.queryTree(query) ?? EMPTY;
      return answer$.pipe(
        catchError(() => EMPTY),
        defaultIfEmpty(undefined),
        map((answer): FromThread => ({ kind: 'answered', id, answer })),
        takeUntil(end$),
        finalize(() => this.#queries.delete(id)),
      );
    });
  }

  #sent(target: number, report: RefreshReport): SentReport {
    const { snapshot } = report;
    return { ...report, snapshot: snapshot && this.#sender.send(target, snapshot) };
  }
}
