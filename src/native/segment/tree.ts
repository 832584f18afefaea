// The tree of a segment's managed objects, built from its records.
import type { ManagedObject, StructureChange, Variable } from '../../model.js';
import type { Budget } from '../../budget.js';
import { ById } from '../../collections/by-id.js';
import { ObjectVariables } from './object-variables.js';
import type { FrameLocation, VariableFields } from './object-variables.js';

export interface ObjectNode extends ManagedObject {
  readonly parent: ObjectNode | undefined;
  readonly children: ById<ObjectNode>;
  readonly variables: ObjectVariables;
  /** Number of objects on the path from the root, including both ends. */
  readonly depth: number;
  /** The last round of mark and sweep that marked the object. */
  round: number;
  /** Whether the object was removed, with its subtree. */
  isRemoved: boolean;
}

/** The contents of an object's record, with its strings. */
export type ResolvedObject = Pick<
  ManagedObject,
  'id' | 'slot' | 'incarnation' | 'name' | 'className' | 'identity' | 'asOf'
>;

export class Tree {
  readonly roots = new ById<ObjectNode>();
  /** All objects, including subtrees of removed ones until `reclaim` frees them. */
  readonly #objects = new ById<ObjectNode>();
  /**
   * Ranges of variable ids in ascending order: the first id of each range, and the id of the object that has the
   * variables. They have only the variables that the current directory has listed so far, so each new directory drops
   * the ranges of removed variables.
   */
  #rangeStarts: number[] = [];
  #rangeObjects: number[] = [];
  /** One generator per removed object whose subtree is not freed yet. */
  readonly #removals: Generator<void, void>[] = [];
  /** The result of the last lookup. The next lookup is usually for the same object. */
  #last: ObjectNode | undefined;
  /** The object that was added last. */
  #newest: ObjectNode | undefined;
  #variables = 0;
  #round = 0;
  #highestId = 0;

  /** The highest id ever added. */
  get highestId(): number {
    return this.#highestId;
  }

  /** Number of objects and variables, including removed ones that are not freed yet. */
  get size(): number {
    return this.#objects.size + this.#variables;
  }

  object(id: number): ObjectNode | undefined {
    const object = this.#last?.id === id ? this.#last : this.#objects.get(id);
    if (object === undefined || isDetached(object)) return undefined;
    return (this.#last = object);
  }

  /** The frame of a variable; undefined if the variable was removed. */
  frame({ id, object }: Variable): FrameLocation | undefined {
    return this.object(object.id)?.variables.frame(id);
  }

  /**
   * Begins a new round of mark and sweep, for a new directory: `sweep()` then removes all items that were not marked.
   */
  beginRound(): void {
    this.#round++;
    this.#rangeStarts = [];
    this.#rangeObjects = [];
  }

  /** Marks an object in this round; false if it does not exist. */
  markObject(id: number): boolean {
    const object = this.object(id);
    if (object !== undefined) object.round = this.#round;
    return object !== undefined;
  }

  /** Marks a variable in this round; false if it does not exist. Call it in ascending order of ids. */
  markVariable(id: number, objectId: number): boolean {
    if (this.object(objectId)?.variables.mark(id, this.#round) !== true) return false;
    this.#addToRange(id, objectId);
    return true;
  }

  /**
   * Removes items that this round did not mark, children before parents, one per step. Add no items before the
   * generator ends.
   */
  *sweep(): Generator<StructureChange | undefined, void> {
    const unmarked: number[] = [];
    for (const object of this.#objects) {
      for (const variable of object.variables.unmarked(this.#round))
        yield variable === undefined ? undefined : this.#removeVariable(object, variable);
      if (object.round !== this.#round) unmarked.push(object.id);
      yield undefined;
    }
    // Children have higher ids than their parents.
    for (let id = unmarked.pop(); id !== undefined; id = unmarked.pop()) yield this.remove(id);
  }

  /** Adds an object below `parent`, or as a root. The caller has checked ids and depth. */
  addObject(fields: ResolvedObject, parent: ObjectNode | undefined): StructureChange {
    // Sets property by property. With a spread, V8 would give each object a hidden class of its own.
    const { id, slot, incarnation, name, className, identity, asOf } = fields;
    // The next object of a class usually has as many variables as the object before it.
    const expected = this.#newest?.className === className ? this.#newest.variables.size : 0;
    const variables = new ObjectVariables(expected);
    const object: ObjectNode = {
      id,
      slot,
      incarnation,
      name,
      className,
      identity,
      asOf,
      parent,
      children: new ById(),
      variables,
      depth: (parent?.depth ?? 0) + 1,
      round: this.#round,
      isRemoved: false,
    };
    variables.object = object;
    this.#newest = object;
    this.#highestId = id;
    this.#objects.add(object);
    (parent?.children ?? this.roots).add(object);
    return { kind: 'object-added', object };
  }

  /** Adds a variable. Its id must be the highest so far. */
  addVariable(fields: VariableFields, object: ObjectNode): StructureChange {
    const { id } = fields;
    this.#highestId = id;
    this.#addToRange(id, object.id);
    this.#variables++;
    return { kind: 'variable-added', variable: object.variables.add(fields, this.#round) };
  }

  /**
   * Removes a variable, or an object with its subtree. `reclaim` frees the subtree's memory later. Ignores ids that do
   * not exist.
   */
  remove(id: number): StructureChange | undefined {
    const object = this.object(id);
    if (object === undefined) return this.#removeVariable(this.#objectOfVariable(id), id);
    object.isRemoved = true;
    (object.parent?.children ?? this.roots).delete(id);
    this.#removals.push(this.#removeFromIndex(object));
    return { kind: 'object-removed', object };
  }

  /** Whether some removed objects are not freed yet. */
  get isReclaiming(): boolean {
    return this.#removals.length > 0;
  }

  /** Frees the subtrees of removed objects within the budget; false once all are freed. */
  reclaim(budget: Budget): boolean {
    for (let each = this.#removals.at(-1); each !== undefined; each = this.#removals.at(-1)) {
      if (budget.isSpent) return true;
      budget.spend(1);
      if (each.next().done === true) this.#removals.pop();
    }
    return false;
  }

  #removeVariable(object: ObjectNode | undefined, id: number): StructureChange | undefined {
    const variable = object?.variables.delete(id);
    if (variable === undefined) return undefined;
    this.#variables--;
    return { kind: 'variable-removed', variable };
  }

  #addToRange(id: number, objectId: number): void {
    if (this.#rangeObjects.at(-1) === objectId) return;
    this.#rangeStarts.push(id);
    this.#rangeObjects.push(objectId);
  }

  /** The object that has the variable, if the variable exists. */
  #objectOfVariable(id: number): ObjectNode | undefined {
    let low = 0;
    let high = this.#rangeStarts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#rangeStarts[middle] ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    return this.object(this.#rangeObjects[low - 1] ?? 0);
  }

  /** Removes a subtree from the index, one object per step. */
  *#removeFromIndex(object: ObjectNode): Generator<void, void> {
    this.#variables -= object.variables.size;
    for (const child of object.children) yield* this.#removeFromIndex(child);
    this.#objects.delete(object.id);
    yield;
  }
}

function isDetached(object: ObjectNode): boolean {
  for (let at: ObjectNode | undefined = object; at !== undefined; at = at.parent)
    if (at.isRemoved) return true;
  return false;
}
