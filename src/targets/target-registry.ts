// The current targets, and the partition of each. Spec 1.3.3.
import { isDeepStrictEqual } from 'node:util';
import { EMPTY, Subject, concat, defer, finalize, merge, mergeMap, takeUntil } from 'rxjs';
import type { Observable } from 'rxjs';
import type { TargetEvent } from '../model.js';
import { FORMATS } from './formats.js';
import type { TargetDefinition } from './formats.js';
import type { Partition } from './partitions/logical-partition.js';
import { hashPartition, leastLoaded, loadsOf, planMoves } from './placement.js';
import { ServedTarget } from './served-target.js';
import type { ServedParts } from './served-target.js';

export interface RegistryParts extends Omit<
  ServedParts,
  'definition' | 'partition' | 'rebalances'
> {
  readonly assignment: 'hash' | 'least_loaded';
  /** Returns the partition `number`; makes it on first use. */
  readonly partition: (number: number) => Partition;
}

interface Entry {
  readonly target: ServedTarget;
  readonly ended$: Subject<void>;
  /** When the load was last measured, and the busy time of the target at that moment. */
  measured: { readonly atMs: number; readonly busyMs: number };
  /** The share of time that refreshes of the target took; undefined until it is measured. */
  load: number | undefined;
}

/** The shortest period over which a load is measured. */
const MIN_PERIOD_MS = 1000;

/** The identity of a target across reloads; its other settings may change. */
const identityOf = ({ app, format, serverKeys, instance }: TargetDefinition): string =>
  JSON.stringify([app, format, instance, ...serverKeys]);

export class TargetRegistry {
  readonly #parts: RegistryParts;
  readonly #added$ = new Subject<Entry>();
  readonly #rebalances = { moves: 0, lastMs: 0 };
  #entries: readonly Entry[] = [];
  #partitions = 1;
  /** Whether discovery has not yet finished its first pass. */
  isDiscovering = false;

  constructor(parts: RegistryParts) {
    this.#parts = parts;
  }

  get targets(): readonly ServedTarget[] {
    return this.#entries.map(({ target }) => target);
  }

  /** Runs all targets, including targets of later updates, while the result has a subscriber. */
  run(): Observable<TargetEvent> {
    return defer(() => {
      const run = ({ target, ended$ }: Entry) => target.run().pipe(takeUntil(ended$));
      return merge(
        this.#added$.pipe(mergeMap(run)),
        defer(() => merge(...this.#entries.map(run))),
      );
    });
  }

  /**
   * Replaces the targets by `definitions`, in their order. A target that stays keeps its partition, and is served
   * under its old definition until the new one is ready.
   */
  update(definitions: readonly TargetDefinition[], partitions: number): Observable<never> {
    // Never reduce the number: a target that stays may be in any partition.
    this.#partitions = Math.max(this.#partitions, partitions);
    this.#measure();
    const former = new Map<string, Entry[]>();
    for (const entry of this.#entries) {
      const identity = identityOf(entry.target.assignment.definition);
      former.set(identity, [...(former.get(identity) ?? []), entry]);
    }
    const changes: Observable<never>[] = [];
    // Add new targets one by one, since the partition of each one depends on the targets before it.
    const kept = definitions.map((each) => former.get(identityOf(each))?.shift());
    const gone = [...former.values()].flat();
    this.#entries = kept.filter((entry) => entry !== undefined);
    this.#entries = definitions.map((definition, index) => {
      const entry = kept[index];
      if (entry === undefined) {
        const made = this.#make(definition);
        this.#entries = [...this.#entries, made];
        return made;
      }
      const current = entry.target.assignment.definition;
      if (current !== definition && !isDeepStrictEqual(current, definition))
        changes.push(entry.target.change({ definition }));
      return entry;
    });
    for (const { ended$ } of gone) ended$.next();
    for (const entry of this.#entries) if (!kept.includes(entry)) this.#added$.next(entry);
    return merge(...changes);
  }

  /**
   * One pass of rebalancing; completes when the targets have moved.
   * @param most the maximum number of moves
   * @param leastLoad a partition that is busy for a smaller share of its time keeps its targets
   */
  rebalance(most: number, leastLoad: number): Observable<never> {
    return defer(() => {
      const startedMs = this.#parts.nowMs();
      this.#measure();
      const entries = this.#entries;
      const loaded = entries.map(({ target, load = 0 }) => ({
        partition: target.assignment.partition.number,
        load,
        isPinned: FORMATS.get(target.assignment.definition.format)?.isStateful ?? false,
      }));
      const moves = planMoves(loaded, this.#partitions, most, leastLoad);
      return concat(
        ...moves.map(({ target: index, to }) =>
          defer(() => {
            const entry = entries[index];
            // A reload may have removed the target meanwhile.
            return entry && this.#entries.includes(entry) ? this.#move(entry.target, to) : EMPTY;
          }),
        ),
      ).pipe(
        finalize(() => {
          this.#rebalances.lastMs = this.#parts.nowMs() - startedMs;
        }),
      );
    });
  }

  #move(target: ServedTarget, to: number): Observable<never> {
    const partition = this.#parts.partition(to);
    return target.change({ partition }).pipe(
      finalize(() => {
        if (target.assignment.partition === partition) this.#rebalances.moves++;
      }),
    );
  }

  #make(definition: TargetDefinition): Entry {
    const partition = this.#parts.partition(this.#choosePartition(definition));
    const target = new ServedTarget({
      ...{ ...this.#parts, definition, partition },
      rebalances: this.#rebalances,
    });
    const measured = { atMs: this.#parts.nowMs(), busyMs: 0 };
    return { target, ended$: new Subject(), measured, load: undefined };
  }

  #choosePartition(definition: TargetDefinition): number {
    if (this.#parts.assignment === 'hash')
      return hashPartition(identityOf(definition), this.#partitions);
    const known = this.#entries.map(({ load }) => load).filter((load) => load !== undefined);
    // A target without a measurement gets the average load.
    const average = known.reduce((sum, load) => sum + load, 0) / known.length || 1;
    const loaded = this.#entries.map(({ target, load = average }) => {
      return { partition: target.assignment.partition.number, load };
    });
    return leastLoaded(loadsOf(loaded, this.#partitions));
  }

  #measure(): void {
    const atMs = this.#parts.nowMs();
    for (const entry of this.#entries) {
      const { busyMs } = entry.target;
      const passedMs = atMs - entry.measured.atMs;
      if (passedMs < MIN_PERIOD_MS) continue;
      entry.load = (busyMs - entry.measured.busyMs) / passedMs;
      entry.measured = { atMs, busyMs };
    }
  }
}
