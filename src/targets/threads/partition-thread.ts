// A partition in its thread: runs targets as the main thread commands.
import {
  EMPTY,
  Subject,
  catchError,
  defaultIfEmpty,
  filter,
  finalize,
  map,
  merge,
  mergeMap,
  of,
  takeUntil,
  tap,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { messageOf } from '../../errors.js';
import { pollerPools } from '../../streams/poller-pool.js';
import type { Report } from '../../streams/report.js';
import { formatPollers } from '../formats.js';
import { CatalogueCache } from '../../catalogue/builtin.js';
import { LogicalPartition } from '../partitions/logical-partition.js';
import type { HostedTarget, PartitionParts } from '../partitions/logical-partition.js';
import type { FromThread, SentReport, ThreadRequest, ThreadSetup, ToThread } from './messages.js';
import { RemoteMemory } from './remote-memory.js';
import type { FileMessage, OpenFile } from './remote-memory.js';
import { SnapshotSender } from './snapshots.js';

export interface ThreadParts extends Pick<
  PartitionParts,
  'nowMs' | 'bindLimits' | 'scheduler' | 'tasks'
> {
  readonly setup: ThreadSetup;
  /** Opens a file for reading; by default a file in shared memory. */
  readonly open?: OpenFile | undefined;
  /** Nanoseconds of the heartbeat clock; by default the system's. */
  readonly nowNs?: (() => bigint) | undefined;
}

export class PartitionThread {
  readonly #fileMessage$ = new Subject<FileMessage>();
  readonly #memory: RemoteMemory;
  readonly #partition: LogicalPartition;
  readonly #sender = new SnapshotSender();
  /** The running targets, by the ids of the requests that host them. */
  readonly #running = new Map<number, HostedTarget>();
  readonly #cancelled$ = new Subject<number>();

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
      case 'host':
      case 'query':
        return this.#answers(message).pipe(
          tap(() => {
            this.#sender.releaseUnheld();
          }),
          catchError((error: unknown) =>
            of<FromThread>({ kind: 'failed', id: message.id, reason: messageOf(error) }),
          ),
          takeUntil(this.#cancelled$.pipe(filter((id) => id === message.id))),
        );
      case 'refresh':
        // Release unheld snapshots before the render, so that the render can reuse their memory.
        this.#sender.releaseUnheld();
        this.#running.get(message.target)?.refresh(message.refresh);
        return EMPTY;
      case 'cancel':
        this.#cancelled$.next(message.id);
        return EMPTY;
      default:
        this.#memory.handle(message);
        return EMPTY;
    }
  }

  #answers(request: ThreadRequest): Observable<FromThread> {
    const { id } = request;
    if (request.kind === 'host') {
      const hosted = this.#partition.host(request.definition, request.formerRoot);
      this.#running.set(id, hosted);
      return hosted.report$.pipe(
        map((report): FromThread => ({ kind: 'report', id, report: this.#sent(id, report) })),
        finalize(() => {
          this.#running.delete(id);
          this.#sender.forget(id);
        }),
      );
    }
    const answer$ = this.#running.get(request.target)?.queryTree(request.query) ?? EMPTY;
    return answer$.pipe(
      defaultIfEmpty(undefined),
      map((answer): FromThread => ({ kind: 'answer', id, answer })),
    );
  }

  #sent(target: number, report: Report): SentReport {
    if (report.kind !== 'refreshed') return report;
    const { snapshot } = report;
    return { ...report, snapshot: snapshot && this.#sender.send(target, snapshot) };
  }
}
