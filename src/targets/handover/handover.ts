// Replaces the hosting that serves a target: starts a standby, and lets it serve once it is ready.
import {
  EMPTY,
  Subject,
  defer,
  distinctUntilChanged,
  finalize,
  ignoreElements,
  map,
  merge,
  mergeMap,
  startWith,
  switchMap,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { countsOfEvents } from '../../exposition/counters.js';
import type { TargetEvent } from '../../model.js';
import type { Refresh, RefreshReport, Report } from '../../streams/report.js';
import { Hosting } from './hosting.js';
import type { Assignment } from './hosting.js';

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
  /** Emits when another hosting begins to serve. */
  readonly #switched$ = new Subject<void>();
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
  get serving(): Pick<Hosting, 'partition' | 'state' | 'queryTree'> {
    return this.#serving;
  }
  get isRunning(): boolean {
    return this.#report$.observed;
  }

  /**
   * Emits one report of the serving hosting. If a standby takes over before the report, refreshes the standby
   * instead. Errors if the partition fails.
   */
  refresh(refresh: Refresh): Observable<RefreshReport> {
    return this.#switched$.pipe(
      startWith(undefined),
      map(() => this.#serving),
      distinctUntilChanged(), // the report `switched` may have caused this refresh, before `#switched$` emits
      switchMap((serving) => serving.refresh(refresh)),
      take(1),
    );
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
    const { tasksMs, counts } = report;
    // With an unchanged definition, the serving hosting has already counted the series that the standby omits.
    const own = isRedefined ? counts : countsOfEvents(counts);
    this.#report$.next({ kind: 'standby', tasksMs, counts: own });
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

  /** Makes the standby the serving hosting, which then answers the open refresh. */
  #switch(): void {
    const former = this.#serving;
    const next = this.#standby;
    if (next === undefined) return;
    this.#serving = next;
    this.#standby = undefined;
    this.#report$.next({ kind: 'switched', state: next.state });
    former.end();
    if (former.partition !== next.partition)
      this.#log(
        'info',
        `moved from partition ${former.partition.number} to ${next.partition.number}`,
      );
    this.#switched$.next();
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
