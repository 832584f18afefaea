// An object whose rows are found: the rows of each class that reads it, and which of its variables own their names.
import type { RowUse, RuleSet } from '../../catalogue/match/rules.js';
import type { Row } from '../../catalogue/row.js';
import type { Variable } from '../../model.js';
import type { LabelText, ObjectLabels } from './labels.js';
import type { Describes } from './self-described.js';

export class Namesakes {
  /** By id; removed ones are cleaned up now and then. */
  #sorted: Variable[] = [];
  /** By id. */
  readonly #there = new Set<number>();

  get isEmpty(): boolean {
    return this.#there.size === 0;
  }

  has({ id }: Variable): boolean {
    return this.#there.has(id);
  }

  add(variable: Variable): void {
    this.#there.add(variable.id);
    this.#sorted.splice(this.#placeOf(variable), 0, variable);
  }

  delete(variable: Variable): void {
    this.#there.delete(variable.id);
    if (this.#sorted.length > 2 * this.#there.size)
      this.#sorted = this.#sorted.filter((each) => this.#there.has(each.id));
  }

  /** Removes the last one; undefined if none is left. */
  takeLast(): Variable | undefined {
    for (;;) {
      const last = this.#sorted.pop();
      if (last === undefined || this.#there.delete(last.id)) return last;
    }
  }

  /** Mostly the end: variables arrive in the order of their ids. */
  #placeOf({ id }: Variable): number {
    let low = 0;
    let high = this.#sorted.length;
    if ((this.#sorted[high - 1]?.id ?? 0) < id) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle]?.id ?? 0) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

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

/** A row as it applies to one variable or object, with the text of its labels. */
export interface Use {
  readonly row: Row;
  readonly labels: LabelText;
}

export interface BoundObject {
  /** The rows of each class that reads it, with the text of the labels from its path. */
  readonly rules: readonly { readonly set: RuleSet; readonly labels: ObjectLabels }[];
  /** The rows for objects below it. */
  readonly below: readonly RuleSet[];
  readonly states: readonly Use[];
  /** Shows variables that no row reads; undefined if the target leaves them out. */
  readonly described: Describes | undefined;
  /** The slot of the variable of each name; of several, the latest. */
  readonly variables: NamedSlots;
  /** The earlier ones, for the few names that several variables have. */
  earlier: Map<string, Namesakes> | undefined;
}

const NO_USES: readonly RowUse[] = [];

/** The rows that apply while the object exists. */
export const setsOf = ({
  rules,
  below,
}: Pick<BoundObject, 'rules' | 'below'>): readonly RuleSet[] => [
  ...rules.map(({ set }) => set),
  ...below,
];

/** The rows that read a variable of the object, without those that describe it. */
export function usesOf({ rules }: BoundObject, { name }: Variable): readonly RowUse[] {
  const [first] = rules;
  if (first === undefined) return NO_USES;
  // Mostly one class reads an object, and there may be a million variables.
  return rules.length === 1 ? first.set.usesOf(name) : rules.flatMap(({ set }) => set.usesOf(name));
}

export function closeBound({ rules, described }: BoundObject): void {
  for (const { labels } of rules) labels.close();
  described?.close();
}
