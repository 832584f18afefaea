// Runs a target in its partition, and replaces that run: starts a standby, and lets it serve once it is ready.
import {
  EMPTY,
  Subject,
  catchError,
  concat,
  defer,
  endWith,
  finalize,
  ignoreElements,
  map,
  merge,
  mergeMap,
  mergeWith,
  of,
  startWith,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { messageOf } from '../errors.js';
import { countsOfEvents } from '../exposition/counters.js';
import type { FoundRoot, Refresh, TargetEvent, TreeAnswer, TreeQuery } from '../model.js';
import { unknownState } from '../streams/report.js';
import type { Report, TargetState } from '../streams/report.js';
import type { TargetDefinition } from './formats.js';
import type { HostedTarget, Partition } from './partitions/logical-partition.js';

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

/** A run of a target in one partition, with one definition. Starts again after a failure of the partition. */
export class Hosting implements Assignment {
  readonly definition: TargetDefinition;
  readonly partition: Partition;
  readonly #end$ = new Subject<void>();
  readonly ended$ = this.#end$.asObservable();
  #hosted: HostedTarget | undefined;
  #state: TargetState;
  /** The current root. Before a choice and after a failure, the root to choose again if it exists. */
  #root: FoundRoot | undefined;

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

  /** Starts a refresh, which a report answers; returns false while the partition has failed. */
  refresh(refresh: Refresh): boolean {
    return this.#hosted?.refresh(refresh) ?? false;
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

  #update(report: Report): void {
    if (!('state' in report)) return;
    const { root, serverKey, isRootLost } = report.state;
    if (root !== undefined) this.#root = { serverKey, id: root };
    // Until this partition has chosen a root, it still looks for the root to choose again.
    else if (isRootLost) this.#root = undefined;
    this.#state = report.state;
  }

  #fail(error: unknown): Report {
    const reason = `partition ${this.partition.number} failed: ${messageOf(error)}`;
    this.#hosted = undefined;
    this.#state = {
      ...unknownState(this.#state.serverKey),
      progress: { ...this.#state.progress, reason: `a restart, ${reason}` },
    };
    return { kind: 'failed', reason, state: this.#state };
  }
}

/**
 * The longest time that a standby may take to become ready. After it, a standby with a new definition takes over
 * anyway. A standby that only changes the partition ends.
 */
export const MAX_STANDBY_MS = 60_000;

export class Handover {
  readonly #scheduler: SchedulerLike | undefined;
  readonly #report$ = new Subject<Report>();
  /** Emits when the serving hosting has the desired assignment. */
  readonly #settled$ = new Subject<void>();
  readonly #started$ = new Subject<Hosting>();
  #serving: Hosting;
  /** The hosting that takes over as soon as it is ready; undefined if none has started. */
  #standby: Hosting | undefined;

  constructor(assignment: Assignment, scheduler?: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#serving = new Hosting(assignment);
  }

  /** The desired partition and definition of the target. */
  get desired(): Assignment {
    return this.#standby ?? this.#serving;
  }
  get serving(): Pick<Hosting, 'definition' | 'partition' | 'state' | 'queryTree'> {
    return this.#serving;
  }
  get isRunning(): boolean {
    return this.#report$.observed;
  }

  /**
   * Starts a refresh of the serving hosting; returns false if its partition has failed. A report `refreshed`, `failed`
   * or `switched` ends the refresh.
   */
  refresh(refresh: Refresh): boolean {
    return this.#serving.refresh(refresh);
  }

  run(): Observable<Report> {
    return defer(() => {
      const hosting$ = this.#started$.pipe(
        startWith(this.#serving),
        mergeMap((hosting) => this.#run(hosting)),
      );
      return merge(this.#report$, hosting$).pipe(
        finalize(() => {
          this.#standby = undefined;
          this.#settled$.next();
        }),
      );
    });
  }

  /**
   * Changes partition or definition; the old hosting serves until the new one is ready. Completes
   * when the change is done or abandoned.
   */
  change(changed: Partial<Assignment>): Observable<never> {
    const start$ = defer(() => {
      const desired = { ...this.desired, ...changed };
      if (!this.isRunning) this.#serving = new Hosting(desired);
      this.#reconcile(desired);
      return EMPTY;
    });
    return merge(this.#settled$.pipe(take(1), ignoreElements()), start$);
  }

  #run(hosting: Hosting): Observable<never> {
    const report$ = hosting.run(this.#scheduler).pipe(
      map((report) => {
        if (hosting === this.#standby) this.#receiveFromStandby(hosting, report);
        else if (hosting === this.#serving) this.#receiveFromServing(hosting, report);
      }),
    );
    const late$ = timer(MAX_STANDBY_MS, this.#scheduler).pipe(
      map(() => {
        if (hosting === this.#standby) this.#onTimeout(hosting);
      }),
      takeUntil(hosting.ended$),
    );
    return merge(report$, hosting === this.#standby ? late$ : EMPTY).pipe(ignoreElements());
  }

  #receiveFromStandby(standby: Hosting, report: Report): void {
    const isRedefined = standby.definition !== this.#serving.definition;
    if (report.kind === 'failed') {
      if (isRedefined) this.#log('warning', report.reason);
      else this.#abandon(report.reason);
    }
    // With an unchanged definition, the serving hosting has already logged these events.
    if (report.kind === 'event' && isRedefined && report.event.level === 'warning')
      this.#report$.next(report);
    if (report.kind !== 'state') return;
    const { tasks, counts } = report;
    // With an unchanged definition, the serving hosting has already counted the series that the standby omits.
    const own = isRedefined ? counts : countsOfEvents(counts);
    this.#report$.next({ kind: 'standby', tasks, counts: own });
    if (report.state.isReady) this.#switch();
  }

  #receiveFromServing(serving: Hosting, report: Report): void {
    if (report.kind === 'failed') this.#log('warning', report.reason);
    this.#report$.next(report);
    // An unready hosting serves no page, so the standby takes over at once.
    if (report.kind === 'state' && !report.state.isReady && serving === this.#serving)
      this.#switch();
  }

  /** Starts or ends a standby, so that the target gets its desired partition and definition. */
  #reconcile(desired: Assignment): void {
    if (this.#standby?.isAt(desired) === true) return;
    this.#standby?.end();
    this.#standby = undefined;
    if (this.#serving.isAt(desired)) {
      this.#settled$.next();
      return;
    }
    this.#standby = new Hosting(desired, this.#serving);
    this.#started$.next(this.#standby);
    if (!this.#serving.state.isReady) this.#switch();
  }

  /** Makes the standby the serving hosting. */
  #switch(): void {
    const former = this.#serving;
    const next = this.#standby;
    if (next === undefined) return;
    this.#serving = next;
    this.#standby = undefined;
    former.end();
    this.#report$.next({ kind: 'switched', state: next.state });
    if (former.partition !== next.partition)
      this.#log(
        'info',
        `moved from partition ${former.partition.number} to ${next.partition.number}`,
      );
    if (this.desired === next) this.#settled$.next();
  }

  #onTimeout(standby: Hosting): void {
    if (standby.definition === this.#serving.definition) {
      this.#abandon(`it did not become ready in partition ${standby.partition.number}`);
    } else {
      this.#log('warning', 'now uses its new settings, although it is not yet ready with them');
      this.#switch();
    }
  }

  #abandon(reason: string): void {
    this.#log('warning', `stays in its partition: ${reason}`);
    this.#reconcile(this.#serving);
  }

  #log(level: TargetEvent['level'], message: string): void {
    this.#report$.next({ kind: 'event', event: { level, message } });
  }
}
