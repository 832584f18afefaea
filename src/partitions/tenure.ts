// Which partition serves a target, under which definition, and how another one takes over.
import {
  EMPTY,
  Subject,
  defer,
  finalize,
  ignoreElements,
  merge,
  mergeMap,
  retry,
  startWith,
  switchMap,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { messageOf } from '../errors.js';
import type { Standing, TargetFacts } from '../exposition/target-facts.js';
import type { Snapshot, TargetEvent } from '../model.js';
import { NOTHING_HANDED_OVER } from '../streams/answer.js';
import type { Answer, HandedOver } from '../streams/answer.js';
import type { Order } from '../streams/order.js';
import type { TargetDefinition } from './definition.js';
import type { Hosted, Partition, Report } from './partition.js';

/** What a target is, and where it is run. */
export interface Place {
  readonly definition: TargetDefinition;
  readonly partition: Partition;
}

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

/** One stay in a partition. */
interface Tenant extends Place {
  readonly order$: Subject<Order>;
  readonly ended$: Subject<void>;
  hosted: Hosted;
  /** Why its partition is gone; empty while it is there. */
  failure: string;
}

/** A successor that is not ready after this time gives up, or takes over as it is if it must. */
export const MOST_MOVING_MS = 60_000;
/** Demands wait while a target is on its way; one that does not let go in time is left behind. */
export const MOST_LEAVING_MS = 5000;
/** A partition that failed is tried again after this time. */
export const REVIVE_MS = 5000;

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
    this.#current = tenant(place);
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
    return this.#current.hosted.standing();
  }
  get facts(): TargetFacts {
    return this.#current.hosted.facts();
  }

  /** Whoever is on its way hears nothing: what waits then is to be ordered again after `succeeded`. */
  order(order: Order): void {
    if (!this.#isLeaving) this.#current.order$.next(order);
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
        if (!this.#isRunning) this.#current = tenant(this.#wish);
        this.#reconcile();
        return EMPTY;
      });
      return merge(settled$, start$);
    });
  }

  #live(each: Tenant): Observable<never> {
    const report$ = defer(() => each.hosted.report$).pipe(
      tap((report) => {
        this.#hear(each, report);
      }),
      retry({
        delay: (error) => {
          this.#failed(each, messageOf(error));
          return timer(REVIVE_MS, this.#scheduler).pipe(
            tap(() => {
              // Anew: a successor that took over in between has nobody before it any more.
              each.hosted = host(each, each.hosted.facts(), each === this.#next);
            }),
          );
        },
      }),
    );
    const patience$ = timer(MOST_MOVING_MS, this.#scheduler).pipe(
      tap(() => {
        this.#lostPatience(each);
      }),
    );
    const isSuccessor = each === this.#next;
    return merge(report$, isSuccessor ? patience$ : EMPTY).pipe(
      ignoreElements(),
      takeUntil(each.ended$),
    );
  }

  #hear(from: Tenant, report: Report): void {
    from.failure = '';
    if (report.kind === 'turned') this.#turned(from);
    else if (from !== this.#current) return;
    else if (report.kind === 'handed-over') this.#succeed(report);
    else if (report.kind !== 'refreshed') this.#event$.next(report);
  }

  #turned(who: Tenant): void {
    const { isReady } = who.hosted.standing();
    if (who === this.#next && isReady) this.#takeOver();
    if (who !== this.#current || isReady) return;
    // The successor may not have heard of it yet, and would serve what is not there any more.
    if (this.#isLeaving) this.#event$.next({ kind: 'lost' });
    else this.#takeOver();
  }

  /** Starts or stops a successor, so that the wish comes true. */
  #reconcile(): void {
    if (this.#isLeaving || isAt(this.#next, this.#wish)) return;
    this.#next?.ended$.next();
    this.#next = undefined;
    if (isAt(this.#current, this.#wish)) {
      this.#settled$.next();
      return;
    }
    this.#next = tenant(this.#wish, this.facts);
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
    this.#current.order$.next({ kind: 'leave' });
  }

  #succeed({ handover, snapshot }: HandedOver): void {
    const next = this.#next;
    if (next === undefined) return;
    const last = this.facts;
    const { partition: from, ended$ } = this.#current;
    this.#current = next;
    this.#next = undefined;
    this.#isLeaving = false;
    this.order({ kind: 'adopt', handover });
    this.#event$.next({ kind: 'succeeded', last, snapshot });
    ended$.next();
    if (from !== next.partition)
      this.#say('info', `moved from partition ${from.number} to ${next.partition.number}`);
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

  #failed(each: Tenant, message: string): void {
    each.failure = `partition ${each.partition.number} failed: ${message}`;
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

const isAt = (tenant: Tenant | undefined, { definition, partition }: Place): boolean =>
  tenant?.definition === definition && tenant.partition === partition;

/** @param before what is known of whom it succeeds; undefined for the first */
function tenant({ definition, partition }: Place, before?: TargetFacts): Tenant {
  const stay = { definition, partition, order$: new Subject<Order>(), ended$: new Subject<void>() };
  return { ...stay, hosted: host(stay, before, before !== undefined), failure: '' };
}

const host = (
  { definition, partition, order$ }: Pick<Tenant, 'definition' | 'partition' | 'order$'>,
  before: TargetFacts | undefined,
  isHeir: boolean,
): Hosted => {
  const former = before?.root ? { serverKey: before.serverKey, root: before.root } : undefined;
  return partition.host(definition, { order$, isHeir, former });
};
