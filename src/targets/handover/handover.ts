// Which hosting serves a target, and how another one takes over. ARCHITECTURE.md has the steps.
import {
  EMPTY,
  Subject,
  defer,
  filter,
  finalize,
  first,
  ignoreElements,
  map,
  merge,
  mergeMap,
  startWith,
  switchMap,
  takeUntil,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { TargetEvent } from '../../model.js';
import { NO_OBSERVATIONS } from '../../streams/command.js';
import type { Observations, Refresh } from '../../streams/command.js';
import type { Report, ServingReport } from '../../streams/report.js';
import { NOTHING_COUNTED } from '../../streams/target-facts.js';
import type { Counted } from '../../streams/target-facts.js';
import { Hosting } from './hosting.js';
import type { Failed, Place } from './hosting.js';

/** A standby that is not ready by then gives up; one with a new definition takes over as it is. */
export const MAX_STANDBY_MS = 60_000;
/** Demands wait while a hosting leaves; one that does not answer in time is left behind. */
export const MAX_LEAVING_MS = 5000;

/** Notes between the streams of a handover; the target does not see them. */
type Note =
  /** The target is where it is to be. */
  | { readonly kind: 'settled' }
  /** The serving hosting is to end. */
  | { readonly kind: 'ending'; readonly hosting: Hosting };

const isServingReport = (report: ServingReport | Note): report is ServingReport =>
  report.kind !== 'settled' && report.kind !== 'ending';

export class Handover {
  readonly #scheduler: SchedulerLike | undefined;
  readonly #report$ = new Subject<ServingReport | Note>();
  readonly #started$ = new Subject<Hosting>();
  #desired: Place;
  #serving: Hosting;
  /** Takes over as soon as it is ready. */
  #standby: Hosting | undefined;
  /** `ending`: leaves once its refresh is answered; `leaving`: has been told to, and has not answered. */
  #phase: 'serving' | 'ending' | 'leaving' = 'serving';
  /** The refresh that is not answered yet. */
  #refresh: Refresh | undefined;
  #isRunning = false;

  constructor(place: Place, scheduler?: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#desired = place;
    this.#serving = new Hosting(place);
  }

  /** Where the target is to be. */
  get desired(): Place {
    return this.#desired;
  }
  /** What serves it. */
  get serving(): Pick<Hosting, 'partition' | 'facts' | 'failure' | 'look'> {
    return this.#serving;
  }
  /** Whether a refresh would be answered by a report. */
  get isServing(): boolean {
    return this.#isRunning && this.#serving.failure === '';
  }

  /** Sends a refresh to the hosting that serves or, if that is leaving, to the next. */
  send(refresh: Refresh): void {
    this.#refresh = refresh;
    if (this.#phase !== 'leaving') this.#serving.send(refresh);
  }

  run(): Observable<ServingReport> {
    return defer(() => {
      this.#isRunning = true;
      const hosting$ = this.#started$.pipe(
        startWith(this.#serving),
        mergeMap((hosting) => this.#run(hosting)),
      );
      const leftBehind$ = this.#report$.pipe(
        filter((report) => report.kind === 'ending'),
        switchMap(({ hosting }) =>
          timer(MAX_LEAVING_MS, this.#scheduler).pipe(
            map(() => {
              if (hosting === this.#serving && this.#phase !== 'serving')
                this.#switch(NO_OBSERVATIONS);
            }),
          ),
        ),
        ignoreElements(),
      );
      return merge(this.#report$.pipe(filter(isServingReport)), leftBehind$, hosting$).pipe(
        finalize(() => {
          this.#isRunning = false;
          this.#phase = 'serving';
          this.#standby = undefined;
          this.#desired = this.#serving;
          this.#report$.next({ kind: 'settled' });
        }),
      );
    });
  }

  /**
   * Changes partition or definition; the old hosting serves until the new one is ready. Completes
   * when that is done or given up.
   */
  change(desired: Partial<Place>): Observable<never> {
    return defer(() => {
      const settled$ = this.#report$.pipe(
        first(({ kind }) => kind === 'settled'),
        ignoreElements(),
      );
      const start$ = defer(() => {
        this.#desired = { ...this.#desired, ...desired };
        if (!this.#isRunning) this.#serving = new Hosting(this.#desired);
        this.#reconcile();
        return EMPTY;
      });
      return merge(settled$, start$);
    });
  }

  #run(hosting: Hosting): Observable<never> {
    const isStandby = () => hosting === this.#standby;
    const report$ = hosting.run(isStandby, this.#scheduler).pipe(
      map((report) => {
        if (hosting === this.#standby) this.#hearStandby(hosting, report);
        else if (hosting === this.#serving) this.#hearServing(hosting, report);
      }),
    );
    const late$ = timer(MAX_STANDBY_MS, this.#scheduler).pipe(
      map(() => {
        if (hosting === this.#standby) this.#late(hosting);
      }),
      takeUntil(hosting.ended$),
    );
    return merge(report$, isStandby() ? late$ : EMPTY).pipe(ignoreElements());
  }

  #hearStandby(standby: Hosting, report: Report | Failed): void {
    const isRedefined = standby.definition !== this.#serving.definition;
    if (report.kind === 'failed') {
      if (isRedefined) this.#say('warning', report.reason);
      else this.#giveUp(report.reason);
    }
    // What another definition leaves out is news; else the same was reported before.
    if (report.kind === 'event' && isRedefined && report.event.level === 'warning')
      this.#report$.next(report);
    if (!('facts' in report)) return;
    const { counted } = report;
    this.#report$.next({ kind: 'standby', counted: isRedefined ? counted : newsOf(counted) });
    if (report.facts.isReady) this.#takeOver();
  }

  #hearServing(serving: Hosting, report: Report | Failed): void {
    switch (report.kind) {
      case 'left':
        if (this.#standby?.failure === '') this.#switch(report.observations);
        else this.#stay(report.observations);
        return;
      case 'failed':
        this.#failed(report);
        return;
      case 'refreshed':
        this.#refresh = undefined;
        // The report may bring the next refresh, which is for the next hosting.
        if (this.#phase === 'ending') this.#phase = 'leaving';
        this.#report$.next(report);
        if (this.#phase === 'leaving') serving.send({ kind: 'leave' });
        break;
      default:
        this.#report$.next(report);
    }
    // A hosting that is not ready has nothing to lose.
    if ('facts' in report && !report.facts.isReady && serving === this.#serving)
      this.#switch(NO_OBSERVATIONS);
  }

  #failed({ reason }: Failed): void {
    this.#say('warning', reason);
    if (this.#phase === 'serving') this.#turnAway(reason);
    else this.#switch(NO_OBSERVATIONS);
  }

  #turnAway(reason: string): void {
    this.#refresh = undefined;
    this.#report$.next({ kind: 'failed', reason });
  }

  /** Starts or ends a standby, so that the target gets where it is to be. */
  #reconcile(): void {
    if (this.#phase !== 'serving' || this.#standby?.isAt(this.#desired) === true) return;
    this.#standby?.end();
    this.#standby = undefined;
    if (this.#serving.isAt(this.#desired)) {
      this.#report$.next({ kind: 'settled' });
      return;
    }
    this.#standby = new Hosting(this.#desired, this.#serving);
    this.#started$.next(this.#standby);
    if (!this.#serving.facts.isReady) this.#switch(NO_OBSERVATIONS);
  }

  #takeOver(): void {
    if (this.#phase !== 'serving') return;
    if (!this.#serving.facts.isReady) {
      this.#switch(NO_OBSERVATIONS);
      return;
    }
    this.#phase = this.#refresh === undefined ? 'leaving' : 'ending';
    this.#report$.next({ kind: 'ending', hosting: this.#serving });
    if (this.#phase === 'leaving') this.#serving.send({ kind: 'leave' });
  }

  /** The standby serves from now on. */
  #switch(observations: Observations): void {
    const former = this.#serving;
    const next = this.#standby;
    if (next === undefined) return;
    this.#serving = next;
    this.#standby = undefined;
    // A refresh that any of this brings is sent below, once.
    this.#phase = 'leaving';
    next.send({ kind: 'take-over', observations });
    this.#report$.next({ kind: 'switched', facts: next.facts });
    former.end();
    if (former.partition !== next.partition)
      this.#say(
        'info',
        `moved from partition ${former.partition.number} to ${next.partition.number}`,
      );
    this.#phase = 'serving';
    if (next.failure !== '') this.#turnAway(next.failure);
    else if (this.#refresh !== undefined) next.send(this.#refresh);
    this.#reconcile();
  }

  /** The standby failed while this one left: it serves as before. */
  #stay(observations: Observations): void {
    this.#serving.send({ kind: 'take-over', observations });
    this.#phase = 'serving';
    if (this.#refresh !== undefined) this.#serving.send(this.#refresh);
    this.#reconcile();
  }

  #late(standby: Hosting): void {
    if (this.#phase !== 'serving') return;
    if (standby.definition === this.#serving.definition) {
      this.#giveUp(`it did not get ready in partition ${standby.partition.number}`);
    } else {
      this.#say('warning', 'takes its new definition, which is not ready yet');
      this.#takeOver();
    }
  }

  #giveUp(reason: string): void {
    this.#say('warning', `stays in its partition: ${reason}`);
    this.#desired = this.#serving;
    this.#reconcile();
  }

  #say(level: TargetEvent['level'], message: string): void {
    this.#report$.next({ kind: 'event', event: { level, message } });
  }
}

/** What a standby counts that its former did not: it finds again what was left out before. */
const newsOf = ({ refreshesMs, staleFrames }: Counted): Counted => ({
  ...NOTHING_COUNTED,
  ...{ refreshesMs, staleFrames },
});
