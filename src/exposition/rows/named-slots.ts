// The slots of an object's variables by their names, which objects of a class have in common.

/** Up to so many, looking through a list takes about as long as a map. */
const MAX_LISTED = 8;
/** A list of one object alone does without the memory of a map for longer. */
const MAX_LISTED_ALONE = 100;
const NONE = -1;
/** So few removed ones may keep their places. */
const FEW = 8;

/** Names in the order in which they came. Many objects may have the first of them. */
class NameList {
  readonly names: string[];
  /** Whether several objects have, or had, names of it. */
  isShared = false;
  #places: Map<string, number> | undefined;

  constructor(names: string[] = []) {
    this.names = names;
  }

  /** The place of a name, or -1. */
  placeOf(name: string): number {
    const mostListed = this.isShared ? MAX_LISTED : MAX_LISTED_ALONE;
    if (this.names.length <= mostListed) return this.names.indexOf(name);
    if (this.#places === undefined) {
      this.#places = new Map();
      for (const [place, each] of this.names.entries()) this.#places.set(each, place);
    }
    return this.#places.get(name) ?? NONE;
  }

  append(name: string): void {
    this.#places?.set(name, this.names.length);
    this.names.push(name);
  }
}

export class NamedSlots {
  #list: NameList;
  /** By the places of names; less than 0 where one was removed. */
  #slots: number[] = [];
  #removed = 0;

  /** @param like those of an object that may have the same names: these are kept once */
  constructor(like?: NamedSlots) {
    this.#list = like === undefined ? new NameList() : like.#list;
  }

  get(name: string): number | undefined {
    const slot = this.#slots[this.#list.placeOf(name)] ?? NONE;
    return slot === NONE ? undefined : slot;
  }

  set(name: string, slot: number): void {
    const place = this.#list.placeOf(name);
    if (place < 0 || place >= this.#slots.length) this.#add(name, place, slot);
    else {
      if (this.#slots[place] === NONE) this.#removed--;
      this.#slots[place] = slot;
    }
  }

  delete(name: string): void {
    const place = this.#list.placeOf(name);
    if ((this.#slots[place] ?? NONE) === NONE) return;
    this.#slots[place] = NONE;
    this.#removed++;
  }

  /** All slots. */
  *values(): Iterable<number> {
    for (const slot of this.#slots) if (slot !== NONE) yield slot;
  }

  /** @param place of the name in the list, or -1 */
  #add(name: string, place: number, slot: number): void {
    const next = this.#slots.length;
    if (place === next) this.#list.isShared = true;
    else {
      // Others have these names, in another order or besides others.
      if (place >= 0 || this.#list.names.length > next)
        this.#list = new NameList(this.#list.names.slice(0, next));
      this.#list.append(name);
    }
    this.#slots.push(slot);
    if (this.#removed > FEW && this.#removed > this.#slots.length / 2) this.#tidy();
  }

  /** Forgets the names of those that were removed. */
  #tidy(): void {
    const { names } = this.#list;
    const kept = this.#slots.flatMap((slot, place) => (slot === NONE ? [] : [place]));
    this.#list = new NameList(kept.map((place) => names[place] ?? ''));
    this.#slots = kept.map((place) => this.#slots[place] ?? NONE);
    this.#removed = 0;
  }
}
