// A set of hashes, in less memory than a Set takes, and growing in small steps.

/** Each part grows alone, so that no step moves more than a part of all. */
const PARTS = 256;
const FIRST_CAPACITY = 8;
const NONE = new Float64Array(0);
/** Stands for an empty place: 0 is kept apart. */
const EMPTY = 0;

interface Part {
  places: Float64Array;
  count: number;
}

/**
 * Holds integers from 0 to 2^53 - 1 that are spread evenly. Those with the same last 8 bits are in one
 * part: where they are asked for one after the other, that part stays in the processor's caches.
 */
export class Hashes {
  readonly #parts = Array.from({ length: PARTS }, (): Part => {
    return { places: NONE, count: 0 };
  });
  #hasZero = false;

  has(hash: number): boolean {
    if (hash === EMPTY) return this.#hasZero;
    const { places } = this.#partOf(hash);
    return places.length > 0 && places[placeOf(places, hash)] === hash;
  }

  /** False if it was there already. */
  add(hash: number): boolean {
    if (hash === EMPTY) {
      const isNew = !this.#hasZero;
      this.#hasZero = true;
      return isNew;
    }
    const part = this.#partOf(hash);
    // At most three of four places are taken.
    if ((part.count + 1) * 4 > part.places.length * 3) grow(part);
    const at = placeOf(part.places, hash);
    if (part.places[at] === hash) return false;
    part.places[at] = hash;
    part.count++;
    return true;
  }

  delete(hash: number): void {
    if (hash === EMPTY) {
      this.#hasZero = false;
      return;
    }
    const part = this.#partOf(hash);
    const { places } = part;
    if (places.length === 0) return;
    let hole = placeOf(places, hash);
    if (places[hole] !== hash) return;
    part.count--;
    // Those behind it move up, as far as their own first place.
    const last = places.length - 1;
    for (let at = (hole + 1) & last; places[at] !== EMPTY; at = (at + 1) & last) {
      const moving = places[at] ?? EMPTY;
      if (((at - firstPlace(places, moving)) & last) < ((at - hole) & last)) continue;
      places[hole] = moving;
      hole = at;
    }
    places[hole] = EMPTY;
  }

  #partOf(hash: number): Part {
    const part = this.#parts[hash % PARTS];
    if (part === undefined) throw new RangeError(`${hash} is not a hash`);
    return part;
  }
}

const firstPlace = (places: Float64Array, hash: number): number =>
  Math.floor(hash / PARTS) & (places.length - 1);

/** Where a hash is, or the empty place where it belongs; there is one. */
function placeOf(places: Float64Array, hash: number): number {
  let at = firstPlace(places, hash);
  while (places[at] !== EMPTY && places[at] !== hash) at = (at + 1) & (places.length - 1);
  return at;
}

function grow(part: Part): void {
  const former = part.places;
  part.places = new Float64Array(Math.max(FIRST_CAPACITY, former.length * 2));
  // Without an iterator, which takes several calls for each until V8 compiles this for speed.
  for (let at = former.length; at-- > 0;) {
    const hash = former[at] ?? EMPTY;
    if (hash !== EMPTY) part.places[placeOf(part.places, hash)] = hash;
  }
}
