// One hosting of a target: in one partition, under one definition, tried again where the partition fails.
import {
  EMPTY,
  Subject,
  catchError,
  concat,
  defer,
  endWith,
  ignoreElements,
  map,
  mergeWith,
  of,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { messageOf } from '../../errors.js';
import type { TreeAnswer, TreeQuery } from '../../model.js';
import type { FormerRoot } from '../../streams/choose-root.js';
import { unknownFacts } from '../../streams/report.js';
import type { Refresh, Report, TargetFacts } from '../../streams/report.js';
import type { TargetDefinition } from '../formats.js';
import type { HostedTarget, Partition } from '../hosting/partition.js';

/** What a target is, and where it is run. */
export interface Place {
  readonly definition: TargetDefinition;
  readonly partition: Partition;
}

/** A partition that failed is tried again after this time. */
export const REVIVE_MS = 5000;

const NO_HOSTING: TreeAnswer = {
  kind: 'no-tree',
  reason: 'its worker partition does not run it at the moment',
};

export class Hosting implements Place {
  readonly definition: TargetDefinition;
  readonly partition: Partition;
  readonly #end$ = new Subject<void>();
  readonly ended$ = this.#end$.asObservable();
  #hosted: HostedTarget | undefined;
  #facts: TargetFacts;
  /** The root that it has, or that it is to take if it is there. */
  #root: FormerRoot | undefined;
  #failure = '';

  /** @param former the hosting that it succeeds; undefined for the first */
  constructor({ definition, partition }: Place, former?: Hosting) {
    this.definition = definition;
    this.partition = partition;
    this.#root = former?.root;
    this.#facts = unknownFacts(definition.serverKeys[0] ?? '');
  }

  /** What it reported last. */
  get facts(): TargetFacts {
    return this.#facts;
  }
  get root(): FormerRoot | undefined {
    return this.#root;
  }
  /** Why its partition is gone; empty while it is there. */
  get failure(): string {
    return this.#failure;
  }

  send(refresh: Refresh): void {
    this.#hosted?.send(refresh);
  }

  /** A look at the tree: one answer, whatever happens to the partition. */
  queryTree(query: TreeQuery): Observable<TreeAnswer> {
    return defer(() => this.#hosted?.queryTree(query) ?? EMPTY).pipe(
      catchError(() => EMPTY),
      endWith(NO_HOSTING),
      mergeWith(this.#end$.pipe(map(() => NO_HOSTING))),
      take(1),
    );
  }

  end(): void {
    this.#end$.next();
  }

  isAt({ definition, partition }: Place): boolean {
    return this.definition === definition && this.partition === partition;
  }

  /** Runs it while it is subscribed to, until `end()`. */
  run(scheduler?: SchedulerLike): Observable<Report> {
    return defer(() => this.#start()).pipe(
      map((report) => this.#noted(report)),
      catchError((error: unknown, again$) =>
        concat(of(this.#fail(error)), timer(REVIVE_MS, scheduler).pipe(ignoreElements()), again$),
      ),
      takeUntil(this.#end$),
    );
  }

  #start(): Observable<Report> {
    this.#hosted = this.partition.host(this.definition, this.#root);
    return this.#hosted.report$;
  }

  /** The report, noted. */
  #noted(report: Report): Report {
    this.#failure = '';
    if (!('facts' in report)) return report;
    const { root, serverKey } = report.facts;
    // Only a root that was lost is forgotten: a partition that starts again does not know it yet.
    if (root !== '') this.#root = { serverKey, root };
    else if (this.#facts.root !== '') this.#root = undefined;
    this.#facts = report.facts;
    return report;
  }

  #fail(error: unknown): Report {
    const reason = `partition ${this.partition.number} failed: ${messageOf(error)}`;
    this.#hosted = undefined;
    this.#failure = reason;
    this.#facts = {
      ...unknownFacts(this.#facts.serverKey),
      progress: { ...this.#facts.progress, reason: `a restart, ${reason}` },
    };
    return { kind: 'failed', reason };
  }
}
