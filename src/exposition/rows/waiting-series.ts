// Series that clash with one that is shown: they wait for it to go, found by what they wait for.
import type { FamilyFacts } from '../../model.js';
import type { LineKey } from '../text/block.js';
import type { Line } from '../kernel/line-table.js';

export interface Waiting {
  readonly facts: FamilyFacts;
  readonly rank: number;
  readonly key: LineKey;
  readonly line: Line;
  /** Of its name and labels. */
  readonly hash: number;
}

/** Beyond this many they are only counted. */
const MAX_WAITING = 10_000;

const placeOf = (name: string, { owner, sub }: LineKey): string => `${owner} ${sub} ${name}`;

export class WaitingSeries {
  readonly #byPlace = new Map<string, Waiting>();
  readonly #byHash = new Map<number, Set<Waiting>>();
  readonly #byFamily = new Map<string, Set<Waiting>>();

  /** The one that waits for that place in that family. */
  at(name: string, key: LineKey): Waiting | undefined {
    // Clashes are rare, and this is asked for every new line.
    return this.#byPlace.size === 0 ? undefined : this.#byPlace.get(placeOf(name, key));
  }

  /** Adds one in the place of the one that waits there; one too many is left out. */
  put(next: Waiting): void {
    this.delete(next.facts.name, next.key);
    if (this.#byPlace.size >= MAX_WAITING) return;
    this.#byPlace.set(placeOf(next.facts.name, next.key), next);
    addTo(this.#byHash, next.hash, next);
    addTo(this.#byFamily, next.facts.name, next);
  }

  delete(name: string, key: LineKey): void {
    const former = this.at(name, key);
    if (former === undefined) return;
    this.#byPlace.delete(placeOf(name, key));
    removeFrom(this.#byHash, former.hash, former);
    removeFrom(this.#byFamily, name, former);
  }

  /** Those with that name and labels, the first ones first. */
  withHash(hash: number): readonly Waiting[] {
    return [...(this.#byHash.get(hash) ?? [])];
  }

  /** Those of a family, the first ones first. */
  ofFamily(name: string): readonly Waiting[] {
    return [...(this.#byFamily.get(name) ?? [])];
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
