// The variable that a path names, in a tree where objects come and go.
import { placeUnder } from '../../catalogue/match/placed-object.js';
import type { ManagedObject, StructureChange, Variable } from '../../model.js';

/** Objects that are looked at in one go: far below a millisecond of work. */
const OBJECTS_AT_ONCE = 1024;

/**
 * Of the objects below the root, the one with the longest id that is a prefix of the path owns the
 * variable, and the rest of the path is the variable's name. Call `bindMore` until it says false,
 * and `absorb` with every change meanwhile and later.
 */
export class NamedVariable {
  readonly #root: ManagedObject;
  /** The path without the root's id: seed path and variable, or a variable of the root alone. */
  readonly #place: string;
  readonly #unbound: Iterator<ManagedObject>;
  /** Objects whose ids are prefixes of the path, each with the variable name that is left. */
  readonly #owners = new Map<ManagedObject, string>();
  #variable: Variable | undefined;
  #isStale = true;

  /** @param path a full one, which begins with the root's id and a dot, or one from the root on */
  constructor(root: ManagedObject, path: string) {
    this.#root = root;
    const prefix = `${root.name}.`;
    this.#place = path.startsWith(prefix) ? path.slice(prefix.length) : path;
    this.#unbound = treeOf(root);
  }

  /** Looks at the next part of the tree as it is; false when all of it has been looked at. */
  bindMore(): boolean {
    for (let i = 0; i < OBJECTS_AT_ONCE; i++) {
      const next = this.#unbound.next();
      if (next.done === true) return false;
      this.#consider(next.value);
    }
    return true;
  }

  /** Takes in what came and went. Repeated changes do no harm. */
  absorb(changes: readonly StructureChange[]): void {
    for (const change of changes) {
      if (change.kind === 'object-added') this.#consider(change.object);
      else if (change.kind === 'object-removed') this.#isStale = true;
      else if (this.#owners.get(change.variable.object) === change.variable.name)
        this.#isStale = true;
    }
  }

  /** The variable, as far as the tree has been looked at; undefined while there is none. */
  find(): Variable | undefined {
    if (!this.#isStale) return this.#variable;
    this.#isStale = false;
    let owner: ManagedObject | undefined;
    let name = this.#place;
    for (const [object, rest] of this.#owners) {
      if (!isThere(object, this.#root)) this.#owners.delete(object);
      else if (rest.length < name.length || (rest === name && isNewer(object, owner)))
        [owner, name] = [object, rest];
    }
    this.#variable = undefined;
    for (const variable of owner?.variables ?? [])
      if (variable.name === name && isNewer(variable, this.#variable)) this.#variable = variable;
    return this.#variable;
  }

  #consider(object: ManagedObject): void {
    const name = object === this.#root ? this.#place : this.#nameBelow(object);
    if (name === undefined || this.#owners.has(object)) return;
    this.#owners.set(object, name);
    this.#isStale = true;
  }

  /** What the path leaves behind an object's id; undefined when the id is no prefix of it. */
  #nameBelow(object: ManagedObject): string | undefined {
    const prefix = `${placeUnder(this.#root, object).seedPath}.`;
    return this.#place.startsWith(prefix) ? this.#place.slice(prefix.length) : undefined;
  }
}

/** An object and all below it, as the tree is when each is reached. */
function* treeOf(object: ManagedObject): Generator<ManagedObject, undefined> {
  yield object;
  for (const child of object.children) yield* treeOf(child);
  return undefined;
}

/** Whether the object hangs below the root now: one that was removed is in no set of children. */
function isThere(object: ManagedObject, root: ManagedObject): boolean {
  let at = object;
  while (at !== root) {
    if (at.parent?.children.has(at) !== true) return false;
    at = at.parent;
  }
  return true;
}

/** Of two variables of one name the later counts, and so of two objects of one id. */
const isNewer = (
  item: { readonly id: number },
  than: { readonly id: number } | undefined,
): boolean => than === undefined || item.id > than.id;
