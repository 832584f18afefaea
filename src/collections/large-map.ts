// A map and a set of millions of numbers. Both grow in small steps.

/** The maximum number of entries of a map that has a single part. */
const MAX_UNDIVIDED = 4096;
/** The number of parts: a prime, so that ids at regular intervals are distributed evenly. */
const PARTS = 251;

/** A map from numbers to values, divided into parts once it is large. Iterations have no order. */
export class LargeMap<V> {
  #parts: Map<number, V>[] = [new Map<number, V>()];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: number): boolean {
    return this.#partOf(key).has(key);
  }

  get(key: number): V | undefined {
    return this.#partOf(key).get(key);
  }

  set(key: number, value: V): void {
    const part = this.#partOf(key);
    const before = part.size;
    part.set(key, value);
    this.#size += part.size - before;
    if (this.#parts.length === 1 && this.#size > MAX_UNDIVIDED) this.#divide();
  }

  delete(key: number): boolean {
    const isDeleted = this.#partOf(key).delete(key);
    if (isDeleted) this.#size--;
    return isDeleted;
  }

  *keys(): Generator<number, void> {
    for (const part of this.#parts) yield* part.keys();
  }

  *values(): Generator<V, void> {
    for (const part of this.#parts) yield* part.values();
  }

  clear(): void {
    this.#parts = [new Map<number, V>()];
    this.#size = 0;
  }

  #partOf(key: number): Map<number, V> {
    const part = this.#parts[this.#parts.length === 1 ? 0 : key % PARTS];
    if (part === undefined) throw new RangeError(`${key} is not an integer of at least 0`);
    return part;
  }

  #divide(): void {
    const all = this.#parts;
    this.#parts = Array.from({ length: PARTS }, () => new Map<number, V>());
    for (const part of all) for (const [key, value] of part) this.#partOf(key).set(key, value);
  }
}

/** The number of parts of a set. Each part grows separately, so that no step moves many entries. */
const HASH_PARTS = 256;
const FIRST_CAPACITY = 8;
const NONE = new Float64Array(0);
/** Marks an empty place. */
const EMPTY = -1;

interface HashPart {
  places: Float64Array;
  count: number;
}

/**
 * A set of hashes: evenly distributed integers from 0 to 2^53 - 1. Hashes with the same last 8 bits share a part, so
 * that lookups sorted by these bits use the processor's caches well.
 */
export class NumberSet {
  readonly #parts = Array.from({ length: HASH_PARTS }, (): HashPart => {
    return { places: NONE, count: 0 };
  });

  has(hash: number): boolean {
    const { places } = this.#partOf(hash);
    return places.length > 0 && places[placeOf(places, hash)] === hash;
  }

  /** Adds a hash; returns false if the set already has it. */
  add(hash: number): boolean {
    const part = this.#partOf(hash);
    // The load factor is at most 3/4.
    if ((part.count + 1) * 4 > part.places.length * 3) grow(part);
    const at = placeOf(part.places, hash);
    if (part.places[at] === hash) return false;
    part.places[at] = hash;
    part.count++;
    return true;
  }

  delete(hash: number): void {
    const part = this.#partOf(hash);
    const { places } = part;
    if (places.length === 0) return;
    let hole = placeOf(places, hash);
    if (places[hole] !== hash) return;
    part.count--;
    // Linear probing: later entries move into the hole, but never before the place that their hash selects.
    const last = places.length - 1;
    for (let at = (hole + 1) & last; places[at] !== EMPTY; at = (at + 1) & last) {
      const moving = places[at] ?? EMPTY;
      if (((at - firstPlace(places, moving)) & last) < ((at - hole) & last)) continue;
      places[hole] = moving;
      hole = at;
    }
    places[hole] = EMPTY;
  }

  #partOf(hash: number): HashPart {
    const part = this.#parts[hash % HASH_PARTS];
    if (part === undefined) throw new RangeError(`${hash} is not a hash`);
    return part;
  }
}

const firstPlace = (places: Float64Array, hash: number): number =>
  Math.floor(hash / HASH_PARTS) & (places.length - 1);

/** The index of a hash, or of the empty place where the hash belongs. */
function placeOf(places: Float64Array, hash: number): number {
  let at = firstPlace(places, hash);
  while (places[at] !== EMPTY && places[at] !== hash) at = (at + 1) & (places.length - 1);
  return at;
}

function grow(part: HashPart): void {
  const former = part.places;
  part.places = new Float64Array(Math.max(FIRST_CAPACITY, former.length * 2)).fill(EMPTY);
  // A loop without an iterator, which would take several calls per entry until V8 optimizes this function.
  for (let at = former.length; at-- > 0;) {
    const hash = former[at] ?? EMPTY;
    if (hash !== EMPTY) part.places[placeOf(part.places, hash)] = hash;
  }
}
