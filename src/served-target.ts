// A target as sinks see it: it turns their demands into answers of its pipeline, and keeps count.
import {
  EMPTY,
  Subject,
  defer,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  take,
  tap,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { Catalogue } from './catalogue/catalogue.js';
import type { Filters } from './catalogue/filters.js';
import { messageOf } from './errors.js';
import { internalFamilies, internalMetrics } from './exposition/internal-metrics.js';
import type { TargetCounters, ViewFacts } from './exposition/internal-metrics.js';
import type { Kernel } from './exposition/kernel/kernel.js';
import { SampleWindow } from './exposition/sample-window.js';
import { selectFamilies } from './exposition/selection.js';
import { TargetView } from './exposition/target-view.js';
import type {
  Exposition,
  InternalMetric,
  PublisherState,
  Scope,
  SyncProgress,
  Target,
  TargetEvent,
  TargetStatus,
  Verdict,
} from './model.js';
import { targetPipeline } from './pipeline.js';
import type { PipelineObserver } from './pipeline.js';
import { unanswered } from './streams/answer.js';
import type { Answer, Demand } from './streams/answer.js';
import type { ChosenRoot, RootChoice } from './streams/choose-root.js';
import type { Partition } from './streams/partition.js';
import type { ServerPool } from './streams/server-pool.js';

export interface TargetParts {
  readonly app: string;
  readonly serverKeys: readonly string[];
  /** Root-selection hint; empty for none. */
  readonly instance: string;
  readonly catalogue: Catalogue | undefined;
  readonly filters: Filters;
  readonly pool: ServerPool;
  readonly partition: Partition;
  readonly kernel: Kernel;
  readonly spacingMs: number;
  /** Unix time in milliseconds. */
  readonly unixMs: () => number;
  /** Milliseconds of a clock that does not step; by default the scheduler's. */
  readonly nowMs?: () => number;
  /** Tells of each sync step and each answer. */
  readonly isDebug?: boolean;
  readonly scheduler?: SchedulerLike;
}

const NO_PROGRESS: Omit<SyncProgress, 'reason'> = {
  objects: { synced: 0, total: 0 },
  variables: { synced: 0, total: 0 },
};
/** Clashing series that are told of by name. */
const MOST_CLASHES_TOLD = 100;

export class ServedTarget implements Target, PipelineObserver {
  readonly app: string;
  readonly serverKeys: readonly string[];
  readonly #parts: TargetParts;
  readonly #demand$ = new Subject<Demand>();
  readonly #answer$ = new Subject<Answer>();
  readonly #event$ = new Subject<TargetEvent>();
  readonly #counters: TargetCounters = {
    cacheHits: 0,
    cacheMisses: 0,
    scopeHits: 0,
    scopeMisses: 0,
    refreshes: new SampleWindow(),
  };
  readonly #waiting = new Set<Demand>();
  readonly #clashes = new Set<string>();
  #choice: RootChoice | undefined;
  #view: TargetView | undefined;
  #isReady = false;
  #publisherState: PublisherState | undefined;

  constructor(parts: TargetParts) {
    this.#parts = parts;
    this.app = parts.app;
    this.serverKeys = parts.serverKeys;
  }

  /** Keeps the target alive while it is subscribed to; emits what an operator wants to read. */
  run(): Observable<TargetEvent> {
    const { app, instance } = this.#parts;
    const answers$ = targetPipeline({
      ...this.#parts,
      app,
      hint: instance,
      demand$: this.#demand$,
      makeView: (chosen) => this.#makeView(chosen),
      observer: this,
    });
    return merge(
      this.#event$,
      answers$.pipe(
        tap((answer) => {
          this.#answer$.next(answer);
        }),
        ignoreElements(),
      ),
    );
  }

  demand(scope?: Scope): Observable<Exposition> {
    return defer(() => {
      const demand: Demand = { kind: 'demand' };
      const answer$ = this.#answer$.pipe(
        filter((answer) => answer.demand === demand),
        take(1),
        map((answer) => this.#exposition(answer, scope)),
      );
      const ask$ = defer(() => {
        for (const key of this.serverKeys) this.#parts.pool.look(key);
        // Not before: a look that finds another root must not answer for the root before it.
        this.#waiting.add(demand);
        this.#demand$.next(demand);
        return EMPTY;
      });
      return merge(answer$, ask$).pipe(finalize(() => this.#waiting.delete(demand)));
    });
  }

  status(): TargetStatus {
    const { pool, partition } = this.#parts;
    const chosen = this.#choice?.kind === 'chosen' ? this.#choice : undefined;
    const serverKey = chosen?.serverKey ?? this.serverKeys[0] ?? '';
    return {
      app: this.app,
      serverKey,
      root: chosen?.root.name ?? '',
      isReady: this.#isReady,
      progress: this.#progress(),
      publisher: this.#choice?.kind === 'none' ? this.#choice.publisher : pool.publisher(serverKey),
      partition: partition.number,
    };
  }

  internal(): InternalMetric[] {
    const { number, busyIdleRatio, waits } = this.#parts.partition;
    const worker = { number, busyIdleRatio, waits, rebalances: 0, lastRebalanceMs: 0 };
    return internalMetrics(this.status(), this.#counters, worker, this.#viewFacts());
  }

  chosen(choice: RootChoice): void {
    this.#choice = choice;
    if (choice.kind === 'none') {
      this.#say('info', `waiting on ${choice.reason}`);
      return;
    }
    const { root, serverKey, others } = choice;
    this.#say('info', `takes root ${root.name} of server key ${serverKey}`);
    if (others.length > 0) this.#say('warning', `roots not taken: ${others.join(', ')}`);
  }

  viewed(view: TargetView | undefined): void {
    this.#view = view;
    this.#publisherState = undefined;
    if (view !== undefined) return;
    this.#isReady = false;
    // Whoever still waits for its turn learns that the root is gone.
    for (const demand of [...this.#waiting]) this.#answer$.next(unanswered(demand));
  }

  ready(isReady: boolean): void {
    if (isReady === this.#isReady) return;
    this.#isReady = isReady;
    const { objects, variables } = this.#progress();
    this.#say('info', `ready: ${objects.total} objects, ${variables.total} variables`);
  }

  seen(publisher: Verdict): void {
    if (publisher.state === this.#publisherState) return;
    if (this.#publisherState !== undefined || publisher.state !== 'live')
      this.#say(publisher.state === 'live' ? 'info' : 'warning', publisher.reason);
    this.#publisherState = publisher.state;
  }

  failed(error: unknown): void {
    const reason = `a restart after a failure: ${messageOf(error)}`;
    const publisher = this.status().publisher;
    this.chosen({ kind: 'none', reason, publisher });
  }

  readonly refreshed = (tookMs: number): void => {
    this.#counters.refreshes.add(tookMs);
    if (this.#isReady || this.#parts.isDebug !== true) return;
    const { objects, variables, reason } = this.#progress();
    const counts = `objects ${objects.synced}/${objects.total}, variables ${variables.synced}/${variables.total}`;
    this.#say('debug', `sync: ${counts}, waiting on ${reason}`);
  };

  #makeView(chosen: ChosenRoot): TargetView {
    const onClash = (series: string): void => {
      if (this.#clashes.size >= MOST_CLASHES_TOLD || this.#clashes.has(series)) return;
      this.#clashes.add(series);
      this.#say('warning', `left out a second series ${series}`);
    };
    return new TargetView({ ...this.#parts, ...chosen, onClash });
  }

  #exposition({ snapshot, isHit }: Answer, scope: Scope | undefined): Exposition {
    const status = this.status();
    if (snapshot === undefined) return { kind: 'waiting', status };
    // A scrape is counted before its page is written.
    if (isHit) this.#counters.cacheHits++;
    else this.#counters.cacheMisses++;
    const selection = scope && selectFamilies(snapshot, scope);
    if (selection?.isHit === true) this.#counters.scopeHits++;
    if (selection?.isHit === false) this.#counters.scopeMisses++;
    const { series, bytes } = snapshot;
    if (this.#parts.isDebug === true)
      this.#say('debug', `${isHit ? 'serves' : 'renders'} ${series} series, ${bytes} bytes`);
    const families = selection?.families ?? snapshot.families;
    const internal = internalFamilies(this.internal(), status, scope);
    return { kind: 'ready', snapshot, families, internal, status };
  }

  #progress(): SyncProgress {
    if (this.#choice?.kind === 'none') return { ...NO_PROGRESS, reason: this.#choice.reason };
    const progress = this.#view?.progress ?? { ...NO_PROGRESS, reason: 'the first look' };
    // All that is known is synced, so what is not known yet is waited for.
    return progress.reason === '' && !this.#isReady
      ? { ...progress, reason: 'the directory to be read' }
      : progress;
  }

  #viewFacts(): ViewFacts | undefined {
    const view = this.#view;
    if (view === undefined || this.#choice?.kind !== 'chosen') return undefined;
    const drops = this.#parts.pool.drops(this.#choice.serverKey);
    const { asOfNs, clashes, omitted, staleFrames, series } = view;
    const asOfAgeSeconds =
      asOfNs === undefined ? undefined : this.#parts.unixMs() / 1e3 - Number(asOfNs) / 1e9;
    return {
      series,
      clashes,
      omitted,
      staleFrames,
      asOfAgeSeconds,
      droppedObjects: drops.objects,
      droppedVariables: drops.variables,
    };
  }

  #say(level: TargetEvent['level'], message: string): void {
    this.#event$.next({
      level,
      message: `target ${this.app} on ${this.serverKeys.join(', ')} ${message}`,
    });
  }
}
