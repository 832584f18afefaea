// Runs a target in one partition, with one definition. Starts it again after a failure of the partition.
import {
  BehaviorSubject,
  EMPTY,
  Subject,
  catchError,
  concat,
  defer,
  endWith,
  filter,
  ignoreElements,
  map,
  merge,
  mergeMap,
  mergeWith,
  of,
  take,
  takeUntil,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { messageOf } from '../../errors.js';
import type { FoundRoot, TreeAnswer, TreeQuery } from '../../model.js';
import { unknownState } from '../../streams/report.js';
import type { Refresh, RefreshReport, Report, TargetState } from '../../streams/report.js';
import type { TargetDefinition } from '../formats.js';
import type { HostedTarget, Partition } from '../partitions/logical-partition.js';

/** The definition of a target, and the partition that runs it. */
export interface Assignment {
  readonly definition: TargetDefinition;
  readonly partition: Partition;
}

/** The time after which a target starts again in a partition that failed. */
export const PARTITION_RETRY_MS = 5000;

const NOT_RUNNING: TreeAnswer = {
  kind: 'no-tree',
  reason: 'the worker partition does not run this target at the moment',
};

export class Hosting implements Assignment {
  readonly definition: TargetDefinition;
  readonly partition: Partition;
  readonly #end$ = new Subject<void>();
  readonly ended$ = this.#end$.asObservable();
  #hosted: HostedTarget | undefined;
  #state: TargetState;
  /** The current root. Before a choice and after a failure, the root to choose again if it exists. */
  #root: FoundRoot | undefined;
  /** The reason why the partition has failed; empty while the partition works. */
  readonly #failure$ = new BehaviorSubject('');

  /** @param former the hosting that this one replaces; undefined for the first hosting */
  constructor({ definition, partition }: Assignment, former?: Hosting) {
    this.definition = definition;
    this.partition = partition;
    this.#root = former?.root;
    this.#state = unknownState(definition.serverKeys[0] ?? '');
  }

  /** The last reported state. */
  get state(): TargetState {
    return this.#state;
  }
  get root(): FoundRoot | undefined {
    return this.#root;
  }

  /** Emits one report. Errors if the partition has failed, or if it fails before the report. */
  refresh(refresh: Refresh): Observable<RefreshReport> {
    const failed$ = this.#failure$.pipe(
      filter((reason) => reason !== ''),
      mergeMap((reason) => throwError(() => new Error(reason))),
    );
    const hosted$ = defer(() => this.#hosted?.refresh(refresh) ?? EMPTY);
    return merge(failed$, hosted$).pipe(
      take(1),
      tap((report) => {
        this.#update(report);
      }),
    );
  }

  /** Emits one answer from the tree, even if the partition fails. */
  queryTree(query: TreeQuery): Observable<TreeAnswer> {
    return defer(() => this.#hosted?.queryTree(query) ?? EMPTY).pipe(
      catchError(() => EMPTY),
      endWith(NOT_RUNNING),
      mergeWith(this.#end$.pipe(map(() => NOT_RUNNING))),
      take(1),
    );
  }

  end(): void {
    this.#end$.next();
  }

  isAt({ definition, partition }: Assignment): boolean {
    return this.definition === definition && this.partition === partition;
  }

  /** Runs the target while the result has a subscriber, until `end()`. */
  run(scheduler?: SchedulerLike): Observable<Report> {
    return defer(() => {
      this.#hosted = this.partition.host(this.definition, this.#root);
      return this.#hosted.report$;
    }).pipe(
      tap((report) => {
        this.#update(report);
      }),
      catchError((error: unknown, again$) =>
        concat(
          of(this.#fail(error)),
          timer(PARTITION_RETRY_MS, scheduler).pipe(ignoreElements()),
          again$,
        ),
      ),
      takeUntil(this.#end$),
    );
  }

  #update(report: Report | RefreshReport): void {
    this.#failure$.next('');
    if (!('state' in report)) return;
    const { root, serverKey } = report.state;
    if (root.kind === 'chosen') this.#root = { serverKey, id: root.id };
    // Until this partition has chosen a root, it still looks for the root to choose again.
    else if (root.kind === 'none' && root.chosen > 0) this.#root = undefined;
    this.#state = report.state;
  }

  #fail(error: unknown): Report {
    const reason = `partition ${this.partition.number} failed: ${messageOf(error)}`;
    this.#hosted = undefined;
    this.#state = {
      ...unknownState(this.#state.serverKey),
      progress: { ...this.#state.progress, reason: `a restart, ${reason}` },
    };
    this.#failure$.next(reason);
    return { kind: 'failed', reason, state: this.#state };
  }
}
