// A tracked object with the rows that read it, and the slots of its variables by name.
import type { RowUse, ClassRows } from '../../catalogue/match/rules.js';
import type { Row } from '../../catalogue/row.js';
import type { IndexedHeap } from '../../collections/indexed-heap.js';
import type { Variable } from '../../model.js';
import type { LabelText, ObjectLabels } from './labels.js';
import type { Describes } from './self-described.js';

/** Up to this many names, a search of a list is about as fast as a map. */
const MAX_LISTED = 8;
/** For a list that belongs to one object, saving the memory of a map is worth a longer search. */
const MAX_LISTED_ALONE = 100;
const NONE = -1;
/** Up to this many removed names stay in a list. */
const FEW = 8;

/** Names in the order of their arrival. Many objects may share a list and have the first names of it. */
class SharedNameList {
  readonly names: string[];
  /** Whether several objects use the list, or have used it. */
  isShared = false;
  #places: Map<string, number> | undefined;

  constructor(names: string[] = []) {
    this.names = names;
  }

  /** The index of a name, or -1. */
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

/** The slots of an object's variables by name. Objects with the same names share one list of names. */
export class NamedSlots {
  #list: SharedNameList;
  /** The slot of each name, by the index of the name; `NONE` for a removed one. */
  #slots: number[] = [];
  #removed = 0;

  /** @param like the slots of an object that may have the same names */
  constructor(like?: NamedSlots) {
    this.#list = like === undefined ? new SharedNameList() : like.#list;
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

  /** @param place the index of the name in the list, or -1 */
  #add(name: string, place: number, slot: number): void {
    const next = this.#slots.length;
    if (place === next) this.#list.isShared = true;
    else {
      // Other objects share the list, with other names or in another order.
      if (place >= 0 || this.#list.names.length > next)
        this.#list = new SharedNameList(this.#list.names.slice(0, next));
      this.#list.append(name);
    }
    this.#slots.push(slot);
    if (this.#removed > FEW && this.#removed > this.#slots.length / 2) this.#tidy();
  }

  /** Drops removed names. */
  #tidy(): void {
    const { names } = this.#list;
    const kept = this.#slots.flatMap((slot, place) => (slot === NONE ? [] : [place]));
    this.#list = new SharedNameList(kept.map((place) => names[place] ?? ''));
    this.#slots = kept.map((place) => this.#slots[place] ?? NONE);
    this.#removed = 0;
  }
}

/** A row that shows the state of an object, with the text of its labels. */
export interface Use {
  readonly row: Row;
  readonly labels: LabelText;
}

export interface BoundObject {
  /** The rows of each class that reads it, with the text of the labels from its path. */
  readonly rules: readonly { readonly set: ClassRows; readonly labels: ObjectLabels }[];
  /** The rows for objects below it. */
  readonly below: readonly ClassRows[];
  readonly states: readonly Use[];
  /** Shows variables that no row reads; undefined if the target leaves them out. */
  readonly described: Describes | undefined;
  /** The slot of the variable of each name; of several, the latest. */
  readonly variables: NamedSlots;
  /** The earlier variables of the few names that several variables share. */
  earlier: Map<string, IndexedHeap<Variable>> | undefined;
}

const NO_USES: readonly RowUse[] = [];

/** The rows that apply while the object exists. */
export const setsOf = ({
  rules,
  below,
}: Pick<BoundObject, 'rules' | 'below'>): readonly ClassRows[] => [
  ...rules.map(({ set }) => set),
  ...below,
];

/** The rows that read a variable of the object, without those that describe it. */
export function usesOf({ rules }: BoundObject, { name }: Variable): readonly RowUse[] {
  const [first] = rules;
  if (first === undefined) return NO_USES;
  // Mostly one class reads an object: avoid an allocation for each variable.
  return rules.length === 1 ? first.set.usesOf(name) : rules.flatMap(({ set }) => set.usesOf(name));
}

export function closeBound({ rules, described }: BoundObject): void {
  for (const { labels } of rules) labels.close();
  described?.close();
}
