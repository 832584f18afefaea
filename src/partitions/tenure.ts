// Which partition serves a target, under which definition, and how another one takes over.
import {
  EMPTY,
  Subject,
  defer,
  ignoreElements,
  merge,
  mergeMap,
  retry,
  startWith,
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
  /** The partition is gone: orders are lost until it is back. */
  | { readonly kind: 'failed' };

/** One stay in a partition. */
interface Tenant extends Place {
  readonly hosted: Hosted;
  readonly order$: Subject<Order>;
  readonly ended$: Subject<void>;
}

/** A successor that is not ready after this time gives up, or takes over as it is if it must. */
export const MOST_MOVING_MS = 60_000;
/** A partition that failed is tried again after this time. */
export const REVIVE_MS = 5000;

export class Tenure {
  readonly #scheduler: SchedulerLike | undefined;
  readonly #event$ = new Subject<TenureEvent>();
  readonly #started$ = new Subject<Tenant>();
  readonly #settled$ = new Subject<void>();
  #wish: Place;
  #current: Tenant;
  /** Who is to take over as soon as it is ready. */
  #next: Tenant | undefined;
  #isLeaving = false;
  #failure = '';

  constructor(place: Place, scheduler?: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#wish = place;
    this.#current = tenant(place, false);
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
    return this.#failure;
  }
  /** Whether orders reach anybody now; those that do not are to be repeated after `succeeded`. */
  get isListening(): boolean {
    return !this.#isLeaving && this.#failure === '';
  }
  get standing(): Standing {
    return this.#current.hosted.standing();
  }
  get facts(): TargetFacts {
    return this.#current.hosted.facts();
  }

  order(order: Order): void {
    this.#current.order$.next(order);
  }

  run(): Observable<TenureEvent> {
    const lives$ = this.#started$.pipe(
      startWith(this.#current),
      mergeMap((each) => this.#live(each)),
    );
    return merge(this.#event$, lives$);
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
          return timer(REVIVE_MS, this.#scheduler);
        },
      }),
    );
    const patience$ = timer(MOST_MOVING_MS, this.#scheduler).pipe(
      tap(() => {
        this.#lostPatience(each);
      }),
      takeUntil(this.#settled$),
    );
    const isSuccessor = each === this.#next;
    return merge(report$, isSuccessor ? patience$ : EMPTY).pipe(
      ignoreElements(),
      takeUntil(each.ended$),
    );
  }

  #hear(from: Tenant, report: Report): void {
    if (from === this.#next) {
      if (report.kind === 'turned' && from.hosted.standing().isReady) this.#takeOver();
      return;
    }
    if (from !== this.#current) return;
    this.#failure = '';
    if (report.kind === 'handed-over') this.#succeed(report);
    else if (report.kind === 'answer' || report.kind === 'event') this.#event$.next(report);
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
    this.#next = tenant(this.#wish, true);
    this.#started$.next(this.#next);
    // A target that serves nothing has nothing to lose.
    if (!this.standing.isReady || this.#failure !== '') this.#takeOver();
  }

  #takeOver(): void {
    if (this.#isLeaving || this.#next === undefined) return;
    this.#isLeaving = true;
    if (this.#failure === '') this.order({ kind: 'leave' });
    else this.#succeed(NOTHING_HANDED_OVER);
  }

  #succeed({ handover, snapshot }: HandedOver): void {
    const next = this.#next;
    if (next === undefined) return;
    const last = this.facts;
    const { partition: from, ended$ } = this.#current;
    this.#current = next;
    this.#next = undefined;
    this.#isLeaving = false;
    this.#failure = '';
    this.order({ kind: 'adopt', handover });
    this.#event$.next({ kind: 'succeeded', last, snapshot });
    ended$.next();
    if (from !== next.partition)
      this.#say('info', `moved from partition ${from.number} to ${next.partition.number}`);
    this.#settled$.next();
    this.#reconcile();
  }

  #lostPatience(next: Tenant): void {
    if (next !== this.#next) return;
    if (this.#isLeaving) {
      this.#succeed(NOTHING_HANDED_OVER);
    } else if (next.definition !== this.#current.definition) {
      this.#say('warning', 'takes its new definition, which is not ready yet');
      this.#takeOver();
    } else {
      this.#giveUp(`it did not get ready in partition ${next.partition.number}`);
    }
  }

  #failed(each: Tenant, message: string): void {
    const what = `partition ${each.partition.number} failed: ${message}`;
    if (each === this.#next) {
      if (each.definition === this.#current.definition) this.#giveUp(what);
      return;
    }
    if (each !== this.#current) return;
    this.#say('warning', what);
    this.#failure = what;
    if (this.#isLeaving) this.#succeed(NOTHING_HANDED_OVER);
    else this.#event$.next({ kind: 'failed' });
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

function tenant(place: Place, isHeir: boolean): Tenant {
  const order$ = new Subject<Order>();
  const hosted = place.partition.host(place.definition, { order$, isHeir });
  return { ...place, hosted, order$, ended$: new Subject() };
}
