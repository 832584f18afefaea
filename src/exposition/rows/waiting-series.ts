// Series that clash with a shown series or metric, indexed by the name or hash for whose removal they wait.
import { unsharedNames } from '../../catalogue/names.js';
import type { FamilyFacts } from '../../model.js';
import type { Line, LineKey } from '../kernel/line-table.js';

export interface Waiting {
  readonly facts: FamilyFacts;
  readonly rank: number;
  readonly key: LineKey;
  readonly line: Line;
  /** The hash of its name and labels. */
  readonly hash: number;
}

/** Further ones are only counted. */
const MAX_WAITING = 10_000;

const placeOf = (name: string, { owner, sub }: LineKey): string => `${owner} ${sub} ${name}`;

export class WaitingSeries {
  readonly #byPlace = new Map<string, Waiting>();
  readonly #byHash = new Map<number, Set<Waiting>>();
  /** By each unshared name of the metric of a series. */
  readonly #byName = new Map<string, Set<Waiting>>();
  #dropped = 0;

  /** The number of waiting series, plus one if any were dropped: those stay missing until the target starts again. */
  get size(): number {
    return this.#byPlace.size + this.#dropped;
  }

  /** The series that waits under that key in that family. */
  at(name: string, key: LineKey): Waiting | undefined {
    // Clashes are rare, and every new line calls this.
    return this.#byPlace.size === 0 ? undefined : this.#byPlace.get(placeOf(name, key));
  }

  /** Adds a series, replacing the one with its key; drops it if too many wait. */
  put(next: Waiting): void {
    this.delete(next.facts.name, next.key);
    if (this.#byPlace.size >= MAX_WAITING) {
      this.#dropped = 1;
      return;
    }
    this.#byPlace.set(placeOf(next.facts.name, next.key), next);
    addTo(this.#byHash, next.hash, next);
    for (const name of unsharedNames(next.facts)) addTo(this.#byName, name, next);
  }

  delete(name: string, key: LineKey): void {
    const former = this.at(name, key);
    if (former === undefined) return;
    this.#byPlace.delete(placeOf(name, key));
    removeFrom(this.#byHash, former.hash, former);
    for (const each of unsharedNames(former.facts)) removeFrom(this.#byName, each, former);
  }

  /** The series with that name and labels, oldest first. */
  withHash(hash: number): readonly Waiting[] {
    return [...(this.#byHash.get(hash) ?? [])];
  }

  /** The series whose metrics have a name of that metric, oldest first for each name. */
  forMetric(facts: FamilyFacts): readonly Waiting[] {
    const found = unsharedNames(facts).flatMap((name) => [...(this.#byName.get(name) ?? [])]);
    return [...new Set(found)];
  }
}

function addTo<K>(map: Map<K, Set<Waiting>>, key: K, waiting: Waiting): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([waiting]));
  else set.add(waiting);
}

function removeFrom<K>(map: Map<K, Set<Waiting>>, key: K, waiting: Waiting): void {
  const set = map.get(key);
  set?.delete(waiting);
  if (set?.size === 0) map.delete(key);
}
