// A target as sinks see it: it turns their demands into answers of its partition, and keeps count.
import { EMPTY, Subject, defer, filter, finalize, map, merge, mergeMap, of, take } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { internalFamilies, internalMetrics } from './internal-metrics.js';
import type { Rebalances, TargetCounters } from './internal-metrics.js';
import { selectFamilies } from '../exposition/page/selection.js';
import { NOTHING_COUNTED, sumOf } from './target-facts.js';
import type { Counted, Standing, TargetFacts } from './target-facts.js';
import type {
  Exposition,
  FoundRoot,
  InternalMetric,
  Scope,
  Snapshot,
  Target,
  TargetEvent,
  TargetStatus,
} from '../model.js';
import type { Place } from './handover/tenant.js';
import { Tenure } from './handover/tenure.js';
import type { TenureEvent } from './handover/tenure.js';
import type { Answer } from '../streams/answer.js';

export interface ServedParts extends Place {
  readonly rebalances: Rebalances;
  /** Unix time in milliseconds. */
  readonly unixMs: () => number;
  readonly scheduler?: SchedulerLike | undefined;
}

interface Answered {
  readonly id: number;
  readonly exposition: Exposition;
}

export class ServedTarget implements Target {
  readonly #parts: ServedParts;
  readonly #tenure: Tenure;
  readonly #answered$ = new Subject<Answered>();
  readonly #counters: TargetCounters = {
    cacheHits: 0,
    cacheMisses: 0,
    scopeHits: 0,
    scopeMisses: 0,
  };
  /** Demands without an answer yet, by number, with their scopes. */
  readonly #waiting = new Map<number, Scope | undefined>();
  #lastId = 0;
  /** The last text of a predecessor, served until there is a newer one. */
  #kept: { readonly snapshot: Snapshot; readonly release: () => void } | undefined;
  /** What predecessors counted. */
  #before: Counted = NOTHING_COUNTED;
  #lastRoot: FoundRoot | undefined;

  constructor(parts: ServedParts) {
    this.#parts = parts;
    this.#tenure = new Tenure(parts, parts.scheduler);
  }

  get app(): string {
    return this.#tenure.wish.definition.app;
  }
  get serverKeys(): readonly string[] {
    return this.#tenure.wish.definition.serverKeys;
  }
  get instance(): string {
    return this.#tenure.wish.definition.instance;
  }
  get lastRoot(): FoundRoot | undefined {
    return this.#lastRoot;
  }
  /** Where it is, or is on its way to. */
  get place(): Place {
    return this.#tenure.wish;
  }
  /** Milliseconds that its refreshes took so far. */
  get busyMs(): number {
    return this.#facts().counted.busyMs;
  }

  /** Keeps the target alive while it is subscribed to; emits what an operator wants to read. */
  run(): Observable<TargetEvent> {
    return this.#tenure.run().pipe(
      mergeMap((event) => {
        this.#noteRoot();
        if (event.kind !== 'event') return of(...this.#hear(event));
        return of(this.#named(event.event));
      }),
      finalize(() => {
        this.#keep(undefined);
        this.#turnAway();
      }),
    );
  }

  /**
   * Changes partition or definition while the target goes on being served. Completes when that is
   * done or given up.
   */
  change(wish: Partial<Place>): Observable<never> {
    return this.#tenure.change(wish);
  }

  demand(scope?: Scope): Observable<Exposition> {
    return defer(() => {
      const id = ++this.#lastId;
      const answer$ = this.#answered$.pipe(
        filter((answer) => answer.id === id),
        take(1),
        map(({ exposition }) => exposition),
      );
      const ask$ = defer(() => {
        this.#waiting.set(id, scope);
        if (this.#tenure.isServing) this.#tenure.order({ kind: 'demand', id });
        else this.#turnAway();
        return EMPTY;
      });
      return merge(answer$, ask$).pipe(finalize(() => this.#waiting.delete(id)));
    });
  }

  status(): TargetStatus {
    const facts = () => this.#facts();
    return {
      app: this.app,
      ...this.#standing(),
      partition: this.#tenure.current.partition.number,
      // Only when it is asked for: every request of every target asks for the rest.
      get progress() {
        return facts().progress;
      },
    };
  }

  internal(): InternalMetric[] {
    const { rebalances, unixMs } = this.#parts;
    return internalMetrics(this.#facts(), this.#counters, rebalances, unixMs());
  }

  /** An event tells of each new root, so none is lost before it was noted. */
  #noteRoot(): void {
    const { root: id, serverKey } = this.#tenure.standing;
    if (id !== '') this.#lastRoot = { serverKey, id };
  }

  /** Takes note of what the tenure tells; returns what is worth a line in the log. */
  #hear(event: Exclude<TenureEvent, { kind: 'event' }>): TargetEvent[] {
    switch (event.kind) {
      case 'answer':
        return this.#answer(event);
      case 'lost':
        this.#turnAway();
        return [];
      case 'succeeded': {
        if (event.snapshot !== undefined) this.#keep(event.snapshot);
        this.#succeeded(event.last);
        for (const id of [...this.#waiting.keys()]) this.#tenure.order({ kind: 'demand', id });
        return [];
      }
    }
  }

  #answer({ id, outcome, snapshot: own }: Answer): TargetEvent[] {
    if (own !== undefined) this.#keep(undefined);
    const snapshot = own ?? this.#kept?.snapshot;
    if (id === undefined || !this.#waiting.has(id)) return [];
    const scope = this.#waiting.get(id);
    this.#waiting.delete(id);
    const status = this.status();
    if (outcome === 'waiting' || snapshot === undefined) {
      this.#answered$.next({ id, exposition: { kind: 'waiting', status } });
      return [];
    }
    // A scrape is counted before its page is written.
    if (outcome === 'hit') this.#counters.cacheHits++;
    else this.#counters.cacheMisses++;
    const selection = scope && selectFamilies(snapshot, scope);
    if (selection?.isHit === true) this.#counters.scopeHits++;
    if (selection?.isHit === false) this.#counters.scopeMisses++;
    const families = selection?.families ?? snapshot.families;
    const internal = internalFamilies(this.internal(), status, scope);
    this.#answered$.next({
      id,
      exposition: { kind: 'ready', snapshot, families, internal, status },
    });
    if (!this.place.definition.isDebug) return [];
    const done = outcome === 'hit' ? 'served' : 'rendered';
    const message = `${done} ${snapshot.series} series, ${snapshot.bytes} bytes`;
    return [this.#named({ level: 'debug', message })];
  }

  /** An event, with the target that it is of. */
  #named({ level, message }: TargetEvent): TargetEvent {
    return { level, message: `target ${this.app} on ${this.serverKeys.join(', ')} ${message}` };
  }

  /** Tells all who wait that there is nothing to serve. */
  #turnAway(): void {
    const status = this.status();
    for (const id of [...this.#waiting.keys()]) {
      this.#waiting.delete(id);
      this.#answered$.next({ id, exposition: { kind: 'waiting', status } });
    }
  }

  #keep(snapshot: Snapshot | undefined): void {
    const release = snapshot?.hold();
    this.#kept?.release();
    this.#kept = snapshot && release && { snapshot, release };
  }

  #standing(): Standing {
    const { failure, standing } = this.#tenure;
    return failure === '' ? standing : { ...standing, isReady: false, root: '' };
  }

  #facts(): TargetFacts {
    const { failure, facts: current } = this.#tenure;
    const counted = sumOf(this.#before, current.counted);
    const facts = { ...current, counted, ...this.#standing() };
    if (failure === '') return facts;
    return { ...facts, progress: { ...facts.progress, reason: `a restart, ${failure}` } };
  }

  /** Counters go on from those of predecessors, but for what the successor has found again. */
  #succeeded({ counted }: TargetFacts): void {
    const before = sumOf(this.#before, counted);
    const { clashes, omitted } = this.#tenure.facts.counted;
    this.#before = {
      ...before,
      clashes: before.clashes - clashes,
      omitted: before.omitted - omitted,
    };
  }
}
