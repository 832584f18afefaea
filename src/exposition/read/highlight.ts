// The value of the variable that the operator chose by its path, while objects come and go.
import { placeUnder } from '../../catalogue/match/rules.js';
import type { Frame, ManagedObject, Source, Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import { exactOf } from './slot-value.js';
import { syncedWord } from './slots.js';

/**
 * A binary heap that knows the index of each item: every call takes a logarithmic number of steps.
 */
export class Ranking<T extends { readonly id: number }> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #heap: T[] = [];
  /** By id. */
  readonly #indexOf = new Map<number, number>();

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): T | undefined {
    return this.#heap[0];
  }

  add(item: T): void {
    if (!this.#indexOf.has(item.id)) this.#rise(item, this.#heap.length);
  }

  delete(item: T): void {
    const index = this.#indexOf.get(item.id);
    const last = this.#heap.pop();
    if (index === undefined || last === undefined) {
      if (last !== undefined) this.#heap.push(last);
      return;
    }
    this.#indexOf.delete(item.id);
    if (last.id !== item.id) this.#sink(last, this.#rise(last, index));
  }

  /** Puts an item at an index, or above it by its rank; returns the final index. */
  #rise(item: T, from: number): number {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || !this.#isBefore(item, parent)) break;
      this.#place(parent, index);
      index = above;
    }
    this.#place(item, index);
    return index;
  }

  #sink(item: T, from: number): void {
    let index = from;
    for (;;) {
      const below = this.#firstBelow(index);
      const child = this.#heap[below];
      if (child === undefined || !this.#isBefore(child, item)) break;
      this.#place(child, index);
      index = below;
    }
    this.#place(item, index);
  }

  #firstBelow(index: number): number {
    const left = this.#heap[index * 2 + 1];
    const right = this.#heap[index * 2 + 2];
    const isRight = left !== undefined && right !== undefined && this.#isBefore(right, left);
    return index * 2 + (isRight ? 2 : 1);
  }

  #place(item: T, index: number): void {
    this.#heap[index] = item;
    this.#indexOf.set(item.id, index);
  }
}

/** An object whose id is a prefix of the path. */
interface Owner {
  /** That of the object. */
  readonly id: number;
  readonly object: ManagedObject;
  /** The rest of the path, which is the name of the variable. */
  readonly name: string;
  /** Its variables of that name, latest first. */
  readonly variables: Ranking<Variable>;
}

/**
 * Of the objects below the root, the one with the longest id that is a prefix of the path owns the
 * variable, and the rest of the path is the variable's name. Its caller reports each object before
 * its variables, and everything that is removed.
 */
export class NamedVariable {
  readonly #root: ManagedObject;
  /** The path without the root's id: seed path and variable, or a variable of the root alone. */
  readonly #place: string;
  readonly #owners = new Map<ManagedObject, Owner>();
  readonly #ranked = new Ranking<Owner>(
    (a, b) => a.name.length < b.name.length || (a.name === b.name && isNewer(a.object, b.object)),
  );

  /**
   * @param path a full path, which begins with the root's id and a dot, or one relative to the root
   */
  constructor(root: ManagedObject, path: string) {
    this.#root = root;
    const prefix = `${root.name}.`;
    this.#place = path.startsWith(prefix) ? path.slice(prefix.length) : path;
  }

  /** The variable, as far as the tree was reported; undefined while there is none. */
  find(): Variable | undefined {
    return this.#ranked.first?.variables.first;
  }

  addObject(object: ManagedObject): void {
    const name = object === this.#root ? this.#place : this.#nameBelow(object);
    if (name === undefined || this.#owners.has(object)) return;
    const owner = { id: object.id, object, name, variables: new Ranking<Variable>(isNewer) };
    this.#owners.set(object, owner);
    this.#ranked.add(owner);
  }

  addVariable(variable: Variable): void {
    const owner = this.#owners.get(variable.object);
    if (owner?.name === variable.name) owner.variables.add(variable);
  }

  removeObject(object: ManagedObject): void {
    const owner = this.#owners.get(object);
    if (owner === undefined) return;
    this.#owners.delete(object);
    this.#ranked.delete(owner);
  }

  removeVariable(variable: Variable): void {
    this.#owners.get(variable.object)?.variables.delete(variable);
  }

  /** The rest of the path after an object's id; undefined if the id is no prefix of it. */
  #nameBelow(object: ManagedObject): string | undefined {
    const prefix = `${placeUnder(this.#root, object).seedPath}.`;
    return this.#place.startsWith(prefix) ? this.#place.slice(prefix.length) : undefined;
  }
}

/** Of two variables with one name the later wins, and so of two objects with one id. */
const isNewer = (item: { readonly id: number }, than: { readonly id: number }): boolean =>
  item.id > than.id;

/** The value of a variable. */
interface Reading {
  /**
   * The exact value of a scalar: all but f64 are bigints. The count of a histogram or summary. 1
   * for a text.
   */
  readonly value: number | bigint;
  /** The text of a string variable. */
  readonly text?: string;
}

export interface HighlightedValue extends Reading {
  /** As configured. */
  readonly path: string;
}

export class Highlight {
  readonly #source: Source;
  readonly #path: string;
  readonly #named: NamedVariable;
  #shown: { readonly variable: Variable; readonly value: HighlightedValue } | undefined;
  readonly #bits = Buffer.alloc(8);
  readonly #word = Buffer.alloc(4);

  /**
   * @param path a full path, which begins with the root's id and a dot, or one relative to the root
   */
  constructor(source: Source, root: ManagedObject, path: string) {
    this.#source = source;
    this.#path = path;
    this.#named = new NamedVariable(root, path);
  }

  addObject(object: ManagedObject): void {
    this.#named.addObject(object);
  }

  addVariable(variable: Variable): void {
    this.#named.addVariable(variable);
  }

  removeObject(object: ManagedObject): void {
    this.#named.removeObject(object);
  }

  removeVariable(variable: Variable): void {
    this.#named.removeVariable(variable);
  }

  /**
   * The current value: the same object as before while nothing changed. Undefined while the
   * variable does not exist or is not synced. If a frame cannot be copied whole, the variable keeps
   * its last value.
   */
  read(): HighlightedValue | undefined {
    const variable = this.#named.find();
    const reading = variable === undefined ? undefined : this.#readingOf(variable);
    if (variable === undefined || reading === undefined) return (this.#shown = undefined);
    const last = this.#shown?.value;
    const value =
      last !== undefined && isSame(last, reading) ? last : { path: this.#path, ...reading };
    this.#shown = { variable, value };
    return value;
  }

  /** A value is valid if the word said so before and after the copy (segment-format.md, 9). */
  #readingOf(variable: Variable): Reading | undefined {
    if (!this.#isSynced(variable)) return undefined;
    const reading = isFramed(variable.type) ? this.#frameOf(variable) : this.#scalarOf(variable);
    return this.#isSynced(variable) ? reading : undefined;
  }

  #scalarOf(variable: Variable): Reading | undefined {
    if (this.#source.readSlots(variable.slot, 1, this.#bits) < 1) return undefined;
    return { value: exactOf(this.#bits.readBigUInt64LE(), variable) };
  }

  #frameOf(variable: Variable): Reading | undefined {
    const frame = this.#source.readFrame(variable);
    if (frame !== undefined) return readingOfFrame(frame);
    return this.#shown?.variable.id === variable.id ? this.#shown.value : undefined;
  }

  #isSynced({ slot, incarnation }: Variable): boolean {
    const words = this.#source.readWords(slot, 1, this.#word);
    return words === 1 && this.#word.readUInt32LE() === syncedWord(incarnation);
  }
}

const isSame = (a: Reading, b: Reading): boolean =>
  Object.is(a.value, b.value) && a.text === b.text;

function readingOfFrame(frame: Frame): Reading {
  if (frame.type === 'string') return { value: 1, text: frame.text };
  if (frame.type === 'summary') return { value: frame.count };
  return { value: frame.counts.reduce((sum, count) => sum + count, 0n) };
}
