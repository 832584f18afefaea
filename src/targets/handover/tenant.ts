// One stay of a target in a partition under one definition, tried again where the partition fails.
import { Subject, defer, retry, tap, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { messageOf } from '../../errors.js';
import { NOTHING_COUNTED, sumOf } from '../target-facts.js';
import type { Standing, TargetFacts } from '../target-facts.js';
import type { FormerRoot } from '../../streams/choose-root.js';
import type { Order } from '../../streams/order.js';
import type { TargetDefinition } from '../definition.js';
import type { Hosted, Partition, Report } from '../hosting/partition.js';

/** What a target is, and where it is run. */
export interface Place {
  readonly definition: TargetDefinition;
  readonly partition: Partition;
}

/** A partition that failed is tried again after this time. */
export const REVIVE_MS = 5000;

export class Tenant implements Place {
  readonly definition: TargetDefinition;
  readonly partition: Partition;
  readonly #order$ = new Subject<Order>();
  readonly #end$ = new Subject<void>();
  /** Emits when somebody else serves. */
  readonly ended$ = this.#end$.asObservable();
  /** Why its partition is gone; empty while it is there. */
  failure = '';
  #hosted: Hosted;
  /** The root that it has, or that it is to take if it is there. */
  #root: FormerRoot | undefined;
  #hasRoot = false;
  /** What was counted until its partition failed last. */
  #before = NOTHING_COUNTED;

  /** @param before whom it succeeds; undefined for the first */
  constructor({ definition, partition }: Place, before?: Tenant) {
    this.definition = definition;
    this.partition = partition;
    this.#root = before === undefined ? undefined : before.#root;
    this.#hosted = this.#host(before !== undefined);
  }

  get standing(): Standing {
    return this.#hosted.standing();
  }
  get facts(): TargetFacts {
    const facts = this.#hosted.facts();
    return { ...facts, counted: sumOf(this.#before, facts.counted) };
  }

  order(order: Order): void {
    this.#order$.next(order);
  }

  end(): void {
    this.#end$.next();
  }

  isAt({ definition, partition }: Place): boolean {
    return this.definition === definition && this.partition === partition;
  }

  /**
   * Runs it while it is subscribed to.
   * @param isHeir asked when it is tried again: it may have taken over in between
   * @param failed hears of each failure of the partition, after `failure` was set
   */
  run(isHeir: () => boolean, failed: () => void, scheduler?: SchedulerLike): Observable<Report> {
    return defer(() => this.#hosted.report$).pipe(
      tap(({ kind }) => {
        this.failure = '';
        if (kind === 'turned') this.#noteRoot();
      }),
      retry({
        delay: (error) => {
          this.failure = `partition ${this.partition.number} failed: ${messageOf(error)}`;
          failed();
          return timer(REVIVE_MS, scheduler).pipe(
            tap(() => {
              this.#before = this.facts.counted;
              this.#hosted = this.#host(isHeir());
            }),
          );
        },
      }),
    );
  }

  #host(isHeir: boolean): Hosted {
    this.#hasRoot = false;
    const former = this.#root;
    return this.partition.host(this.definition, { order$: this.#order$, isHeir, former });
  }

  /** A failed partition knows nothing any more, but only a root that was lost may be left. */
  #noteRoot(): void {
    const { root, serverKey } = this.standing;
    if (root !== '') this.#root = { serverKey, root };
    else if (this.#hasRoot) this.#root = undefined;
    this.#hasRoot = root !== '';
  }
}
