// Which partition serves a target, under which definition, and how another one takes over.
import {
  EMPTY,
  Subject,
  defer,
  finalize,
  ignoreElements,
  merge,
  mergeMap,
  startWith,
  switchMap,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { Standing, TargetFacts } from '../target-facts.js';
import type { Snapshot, TargetEvent } from '../../model.js';
import { NOTHING_HANDED_OVER } from '../../streams/answer.js';
import type { Answer, HandedOver } from '../../streams/answer.js';
import type { Order } from '../../streams/order.js';
import type { Report } from '../hosting/partition.js';
import { Tenant } from './tenant.js';
import type { Place } from './tenant.js';

/** What the target that is served tells. */
export type TenureEvent =
  | Answer
  | { readonly kind: 'event'; readonly event: TargetEvent }
  /** Another one serves from now on; `snapshot` stays until the emission returns, unless held. */
  | {
      readonly kind: 'succeeded';
      readonly last: TargetFacts;
      readonly snapshot: Snapshot | undefined;
    }
  /** Nobody can serve those who wait: the partition or the root is gone. */
  | { readonly kind: 'lost' };

/** A successor that is not ready after this time gives up, or takes over as it is if it must. */
export const MOST_MOVING_MS = 60_000;
/** Demands wait while a target is on its way; one that does not let go in time is left behind. */
export const MOST_LEAVING_MS = 5000;

export class Tenure {
  readonly #scheduler: SchedulerLike | undefined;
  readonly #event$ = new Subject<TenureEvent>();
  readonly #started$ = new Subject<Tenant>();
  readonly #leave$ = new Subject<void>();
  readonly #settled$ = new Subject<void>();
  #wish: Place;
  #current: Tenant;
  /** Who is to take over as soon as it is ready. */
  #next: Tenant | undefined;
  #isRunning = false;
  #isLeaving = false;

  constructor(place: Place, scheduler?: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#wish = place;
    this.#current = new Tenant(place);
  }

  /** Where the target is, or is on its way to. */
  get wish(): Place {
    return this.#wish;
  }
  get current(): Place {
    return this.#current;
  }
  /** Why the partition that serves is gone; empty while it is there. */
  get failure(): string {
    return this.#current.failure;
  }
  /** Whether an order is heard, now or by the successor after `succeeded`. */
  get isServing(): boolean {
    return this.#isRunning && this.failure === '';
  }
  get standing(): Standing {
    return this.#current.standing;
  }
  get facts(): TargetFacts {
    return this.#current.facts;
  }

  /** Whoever is on its way hears nothing: what waits then is to be ordered again after `succeeded`. */
  order(order: Order): void {
    if (!this.#isLeaving) this.#current.order(order);
  }

  run(): Observable<TenureEvent> {
    return defer(() => {
      this.#isRunning = true;
      const lives$ = this.#started$.pipe(
        startWith(this.#current),
        mergeMap((each) => this.#live(each)),
      );
      const leaves$ = this.#leave$.pipe(
        switchMap(() => timer(MOST_LEAVING_MS, this.#scheduler)),
        tap(() => {
          if (this.#isLeaving) this.#succeed(NOTHING_HANDED_OVER);
        }),
        ignoreElements(),
      );
      return merge(this.#event$, leaves$, lives$).pipe(
        finalize(() => {
          this.#isRunning = this.#isLeaving = false;
          this.#next = undefined;
          this.#wish = this.#current;
          this.#settled$.next();
        }),
      );
    });
  }

  /**
   * Changes partition or definition; the present ones serve until the new ones are ready. Completes
   * when that is done or given up.
   */
  change(wish: Partial<Place>): Observable<never> {
    return defer(() => {
      const settled$ = this.#settled$.pipe(take(1), ignoreElements());
      const start$ = defer(() => {
        this.#wish = { ...this.#wish, ...wish };
        if (!this.#isRunning) this.#current = new Tenant(this.#wish);
        this.#reconcile();
        return EMPTY;
      });
      return merge(settled$, start$);
    });
  }

  #live(each: Tenant): Observable<never> {
    const isHeir = () => each === this.#next;
    const failed = () => {
      this.#failed(each);
    };
    const report$ = each.run(isHeir, failed, this.#scheduler).pipe(
      tap((report) => {
        this.#hear(each, report);
      }),
    );
    const patience$ = timer(MOST_MOVING_MS, this.#scheduler).pipe(
      tap(() => {
        this.#lostPatience(each);
      }),
    );
    return merge(report$, isHeir() ? patience$ : EMPTY).pipe(
      ignoreElements(),
      takeUntil(each.ended$),
    );
  }

  #hear(from: Tenant, report: Report): void {
    if (report.kind === 'turned') this.#turned(from);
    else if (from !== this.#current) return;
    else if (report.kind === 'handed-over') this.#succeed(report);
    else if (report.kind !== 'refreshed') this.#event$.next(report);
  }

  #turned(who: Tenant): void {
    const { isReady } = who.standing;
    if (who === this.#next && isReady) this.#takeOver();
    if (who !== this.#current || isReady) return;
    // The successor may not have heard of it yet, and would serve what is not there any more.
    if (this.#isLeaving) this.#event$.next({ kind: 'lost' });
    else this.#takeOver();
  }

  /** Starts or stops a successor, so that the wish comes true. */
  #reconcile(): void {
    if (this.#isLeaving || this.#next?.isAt(this.#wish) === true) return;
    this.#next?.end();
    this.#next = undefined;
    if (this.#current.isAt(this.#wish)) {
      this.#settled$.next();
      return;
    }
    this.#next = new Tenant(this.#wish, this.#current);
    this.#started$.next(this.#next);
    // A target that serves nothing has nothing to lose.
    if (!this.standing.isReady || this.failure !== '') this.#takeOver();
  }

  #takeOver(): void {
    if (this.#isLeaving || this.#next === undefined) return;
    if (this.failure !== '') {
      this.#succeed(NOTHING_HANDED_OVER);
      return;
    }
    this.#isLeaving = true;
    this.#leave$.next();
    this.#current.order({ kind: 'leave' });
  }

  #succeed({ handover, snapshot }: HandedOver): void {
    const next = this.#next;
    if (next === undefined) return;
    const last = this.facts;
    const former = this.#current;
    this.#current = next;
    this.#next = undefined;
    this.#isLeaving = false;
    this.order({ kind: 'adopt', handover });
    this.#event$.next({ kind: 'succeeded', last, snapshot });
    former.end();
    if (former.partition !== next.partition)
      this.#say(
        'info',
        `moved from partition ${former.partition.number} to ${next.partition.number}`,
      );
    if (this.failure !== '') this.#event$.next({ kind: 'lost' });
    this.#reconcile();
  }

  #lostPatience(next: Tenant): void {
    if (next !== this.#next || this.#isLeaving) return;
    if (next.definition !== this.#current.definition) {
      this.#say('warning', 'takes its new definition, which is not ready yet');
      this.#takeOver();
    } else {
      this.#giveUp(`it did not get ready in partition ${next.partition.number}`);
    }
  }

  #failed(each: Tenant): void {
    const isMove = each === this.#next && each.definition === this.#current.definition;
    if (isMove) this.#giveUp(each.failure);
    else this.#say('warning', each.failure);
    if (each !== this.#current) return;
    if (this.#isLeaving) this.#succeed(NOTHING_HANDED_OVER);
    else this.#event$.next({ kind: 'lost' });
  }

  #giveUp(reason: string): void {
    this.#say('warning', `stays in its partition: ${reason}`);
    this.#wish = this.#current;
    this.#reconcile();
  }

  #say(level: TargetEvent['level'], message: string): void {
    this.#event$.next({ kind: 'event', event: { level, message } });
  }
}
