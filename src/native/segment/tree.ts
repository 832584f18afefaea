// The tree of a segment's managed objects, built from its records.
import { DeclaredVariable } from '../../model.js';
import type {
  Declaration,
  ManagedObject,
  SlotRef,
  StructureChange,
  Variable,
} from '../../model.js';
import type { Budget } from '../../budget.js';
import { ById } from '../../collections/by-id.js';

/** Offset and length of a variable's frame, in 8-byte units. */
export interface FrameLocation {
  readonly offset: number;
  readonly words: number;
}

/** The contents of a variable's record, with its strings. */
export interface VariableFields extends SlotRef {
  readonly id: number;
  readonly declaration: Declaration;
  /** Undefined for a scalar. */
  readonly frame: FrameLocation | undefined;
}

/** The contents of an object's record, with its strings. */
export type ObjectFields = Pick<
  ManagedObject,
  'id' | 'slot' | 'incarnation' | 'name' | 'className' | 'identity' | 'asOf'
>;

class SegmentVariable extends DeclaredVariable {
  readonly frame: FrameLocation | undefined;
  /** The epoch of the last directory that has listed the variable. */
  epoch: number;

  constructor(object: ManagedObject, fields: VariableFields, epoch: number) {
    super(object, fields.id, fields.slot, fields.incarnation, fields.declaration);
    this.frame = fields.frame;
    this.epoch = epoch;
  }
}

export interface ObjectNode extends ManagedObject {
  readonly parent: ObjectNode | undefined;
  readonly children: ById<ObjectNode>;
  readonly variables: ById<SegmentVariable>;
  /** Number of objects on the path from the root, including both ends. */
  readonly depth: number;
  /** The epoch of the last directory that has listed the object. */
  epoch: number;
  /** Whether the object was removed, with its subtree. */
  isRemoved: boolean;
}

export class Tree {
  readonly roots = new ById<ObjectNode>();
  /** All objects, including subtrees of removed ones until `reclaim` frees them. */
  readonly #objects = new ById<ObjectNode>();
  /**
   * The objects of all variables, to find a variable by its id: the ids from a start to the next start are variables
   * of one object. Each new directory begins these lists anew, without the variables that it does not list.
   */
  #startIds: number[] = [];
  #objectIds: number[] = [];
  /** One generator per removed object whose subtree is not freed yet. */
  readonly #removals: Generator<void, void>[] = [];
  #variables = 0;
  #epoch = 0;
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
    const object = this.#objects.get(id);
    for (let at = object; at !== undefined; at = at.parent) if (at.isRemoved) return undefined;
    return object;
  }

  /** The frame of a variable; undefined for a scalar, and if the variable was removed. */
  frame({ id, object }: Variable): FrameLocation | undefined {
    return this.object(object.id)?.variables.get(id)?.frame;
  }

  /** Begins to read another directory. `sweep` then removes all items that it has not listed. */
  beginDirectory(epoch: number): void {
    this.#epoch = epoch;
    this.#startIds = [];
    this.#objectIds = [];
  }

  /** Notes that the directory lists an object; false if the object does not exist. */
  markObject(id: number): boolean {
    const object = this.object(id);
    if (object !== undefined) object.epoch = this.#epoch;
    return object !== undefined;
  }

  /** Notes that the directory lists a variable; false if it does not exist. Call it in ascending order of ids. */
  markVariable(id: number, objectId: number): boolean {
    const variable = this.object(objectId)?.variables.get(id);
    if (variable === undefined) return false;
    variable.epoch = this.#epoch;
    this.#noteObject(id, objectId);
    return true;
  }

  /**
   * Removes items that the directory has not listed, children before parents, one per step. Add no items before the
   * generator ends.
   */
  *sweep(): Generator<StructureChange | undefined, void> {
    const missing: number[] = [];
    for (const object of this.#objects) {
      for (const { id, epoch } of object.variables)
        yield epoch === this.#epoch ? undefined : this.#removeVariable(object, id);
      if (object.epoch !== this.#epoch) missing.push(object.id);
      yield undefined;
    }
    // Children have higher ids than their parents.
    for (let id = missing.pop(); id !== undefined; id = missing.pop()) yield this.remove(id);
  }

  /** Adds an object below `parent`, or as a root. The caller has checked ids and depth. */
  addObject(fields: ObjectFields, parent: ObjectNode | undefined): StructureChange {
    // Sets property by property. With a spread, V8 would give each object a hidden class of its own.
    const { id, slot, incarnation, name, className, identity, asOf } = fields;
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
      variables: new ById(),
      depth: (parent?.depth ?? 0) + 1,
      epoch: this.#epoch,
      isRemoved: false,
    };
    this.#highestId = id;
    this.#objects.add(object);
    (parent?.children ?? this.roots).add(object);
    return { kind: 'object-added', object };
  }

  /** Adds a variable. Its id must be the highest so far. */
  addVariable(fields: VariableFields, object: ObjectNode): StructureChange {
    const { id } = fields;
    const variable = new SegmentVariable(object, fields, this.#epoch);
    this.#highestId = id;
    this.#noteObject(id, object.id);
    this.#variables++;
    object.variables.add(variable);
    return { kind: 'variable-added', variable };
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
    const variable = object?.variables.get(id);
    if (variable === undefined) return undefined;
    object?.variables.delete(id);
    this.#variables--;
    return { kind: 'variable-removed', variable };
  }

  #noteObject(variableId: number, objectId: number): void {
    if (this.#objectIds.at(-1) === objectId) return;
    this.#startIds.push(variableId);
    this.#objectIds.push(objectId);
  }

  /** The object that has the variable, if the variable exists. */
  #objectOfVariable(id: number): ObjectNode | undefined {
    let low = 0;
    let high = this.#startIds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#startIds[middle] ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    return this.object(this.#objectIds[low - 1] ?? 0);
  }

  /** Removes a subtree from the index, one object per step. */
  *#removeFromIndex(object: ObjectNode): Generator<void, void> {
    this.#variables -= object.variables.size;
    for (const child of object.children) yield* this.#removeFromIndex(child);
    this.#objects.delete(object.id);
    yield;
  }
}
