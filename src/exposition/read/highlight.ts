// Reads the variable that the operator chose by its path, while objects are added and removed.
import { IndexedHeap, isNewer } from '../../collections/indexed-heap.js';
import { objectPath } from '../../catalogue/match/row-index.js';
import type { Frame, ManagedObject, Source, Variable } from '../../model.js';
import { NodeValues, SlotCopies } from './node-values.js';

/** An object whose id is a prefix of the path. */
interface Owner {
  readonly id: number;
  readonly object: ManagedObject;
  /** The name of the variable: the rest of the path. */
  readonly name: string;
  /** The variables of the object that have this name, latest first. */
  readonly variables: IndexedHeap<Variable>;
}

/**
 * Finds a variable by its path. The variable belongs to the object with the longest id that is a prefix of the path; the
 * rest of the path is the variable's name. The caller adds each object before its variables, and removes both.
 */
export class NamedVariable {
  readonly #root: ManagedObject;
  /**
   * The path relative to the root: the seed path of an object and the name of a variable, or only the name of a
   * variable of the root.
   */
  readonly #place: string;
  readonly #owners = new Map<ManagedObject, Owner>();
  readonly #ranked = new IndexedHeap<Owner>(
    (a, b) => a.name.length < b.name.length || (a.name === b.name && isNewer(a.object, b.object)),
  );

  /** @param path a full path, which begins with the root's id and a dot, or a path relative to the root */
  constructor(root: ManagedObject, path: string) {
    this.#root = root;
    const prefix = `${root.name}.`;
    this.#place = path.startsWith(prefix) ? path.slice(prefix.length) : path;
  }

  /** The latest variable of this path; undefined while there is none. */
  find(): Variable | undefined {
    return this.#ranked.first?.variables.first;
  }

  addObject(object: ManagedObject): void {
    const name = object === this.#root ? this.#place : this.#nameBelow(object);
    if (name === undefined || this.#owners.has(object)) return;
    const owner = { id: object.id, object, name, variables: new IndexedHeap<Variable>(isNewer) };
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

  /** The rest of the path after an object's id; undefined if the path does not begin with the id. */
  #nameBelow(object: ManagedObject): string | undefined {
    const prefix = `${objectPath(this.#root, object).seedPath}.`;
    return this.#place.startsWith(prefix) ? this.#place.slice(prefix.length) : undefined;
  }
}

/** The value of a variable. */
interface CurrentValue {
  /**
   * The exact value of a scalar: a double for the type f64, a bigint for all others. For a histogram or summary, its
   * count; for a string, 1.
   */
  readonly value: number | bigint;
  /** The text of a string variable. */
  readonly text?: string;
}

export interface HighlightedValue extends CurrentValue {
  /** The path, as configured. */
  readonly path: string;
}

export class Highlight {
  readonly #source: Source;
  readonly #path: string;
  readonly named: NamedVariable;
  #shown: { readonly variable: Variable; readonly value: HighlightedValue } | undefined;
  readonly #slots: SlotCopies;

  /** @param path a full path, which begins with the root's id and a dot, or a path relative to the root */
  constructor(source: Source, root: ManagedObject, path: string) {
    this.#source = source;
    this.#slots = new SlotCopies(source);
    this.#path = path;
    this.named = new NamedVariable(root, path);
  }

  /**
   * Returns the current value; the same object until the value changes. Undefined while the variable does not exist
   * or is not synced. If its frame cannot be copied consistently, the variable keeps its last value.
   */
  read(): HighlightedValue | undefined {
    const variable = this.named.find();
    const current = variable === undefined ? undefined : this.#currentValue(variable);
    if (variable === undefined || current === undefined) return (this.#shown = undefined);
    const last = this.#shown?.value;
    const value =
      last !== undefined && isSame(last, current) ? last : { path: this.#path, ...current };
    this.#shown = { variable, value };
    return value;
  }

  #currentValue(variable: Variable): CurrentValue | undefined {
    this.#slots.clear();
    const read = new NodeValues(this.#source, this.#slots).ofVariable(variable);
    if (read.kind === 'number') return { value: read.number };
    if (read.kind === 'frame') return frameValue(read.frame);
    const isKept = read.kind === 'no-copy' && this.#shown?.variable.id === variable.id;
    return isKept ? this.#shown?.value : undefined;
  }
}

const isSame = (a: CurrentValue, b: CurrentValue): boolean =>
  Object.is(a.value, b.value) && a.text === b.text;

function frameValue(frame: Frame): CurrentValue {
  if (frame.type === 'string') return { value: 1, text: frame.text };
  if (frame.type === 'summary') return { value: frame.count };
  return { value: frame.counts.reduce((sum, count) => sum + count, 0n) };
}
