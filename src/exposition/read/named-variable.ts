// Finds the variable at a path, in a tree where objects come and go.
import { placeUnder } from '../../catalogue/match/rules.js';
import type { ManagedObject, Variable } from '../../model.js';
import { Ranking } from './ranking.js';

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
