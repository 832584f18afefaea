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
  declare readonly object: ObjectNode;
  readonly frame: FrameLocation | undefined;
  /** The epoch of the last directory that has listed the variable. */
  epoch: number;

  constructor(object: ObjectNode, fields: VariableFields, epoch: number) {
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

type Item = ObjectNode | SegmentVariable;

export class Tree {
  readonly roots = new ById<ObjectNode>();
  /** All objects and variables, including subtrees of removed objects until `reclaim` frees them. */
  readonly #items = new ById<Item>();
  /** One generator per removed object whose subtree is not freed yet. */
  readonly #removals: Generator<void, void>[] = [];
  /** The epoch of the directory that is being read. `sweep` removes all items that this directory has not listed. */
  epoch = 0;
  #highestId = 0;

  /** The highest id ever added. */
  get highestId(): number {
    return this.#highestId;
  }

  /** Number of objects and variables, including removed ones that are not freed yet. */
  get size(): number {
    return this.#items.size;
  }

  object(id: number): ObjectNode | undefined {
    const item = this.#item(id);
    return item instanceof SegmentVariable ? undefined : item;
  }

  /** The frame of a variable; undefined for a scalar, and if the variable was removed. */
  frame({ id }: Variable): FrameLocation | undefined {
    const item = this.#item(id);
    return item instanceof SegmentVariable ? item.frame : undefined;
  }

  /**
   * Notes that the directory lists an item; false if there is no such item.
   * @param objectId the object of a variable; undefined for an object
   */
  mark(id: number, objectId: number | undefined): boolean {
    const item = this.#item(id);
    const owner = item instanceof SegmentVariable ? item.object.id : undefined;
    if (item === undefined || owner !== objectId) return false;
    item.epoch = this.epoch;
    return true;
  }

  /** Removes items that the directory has not listed, one per step. Add no items before the generator ends. */
  *sweep(): Generator<StructureChange | undefined, void> {
    const missing: number[] = [];
    for (const { id, epoch } of this.#items) {
      if (epoch !== this.epoch) missing.push(id);
      yield undefined;
    }
    // Children and variables have higher ids than their objects.
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
      epoch: this.epoch,
      isRemoved: false,
    };
    this.#highestId = id;
    this.#items.add(object);
    (parent?.children ?? this.roots).add(object);
    return { kind: 'object-added', object };
  }

  /** Adds a variable. Its id must be the highest so far. */
  addVariable(fields: VariableFields, object: ObjectNode): StructureChange {
    const variable = new SegmentVariable(object, fields, this.epoch);
    this.#highestId = fields.id;
    this.#items.add(variable);
    object.variables.add(variable);
    return { kind: 'variable-added', variable };
  }

  /**
   * Removes a variable, or an object with its subtree. `reclaim` frees the subtree's memory later. Ignores ids that do
   * not exist.
   */
  remove(id: number): StructureChange | undefined {
    const item = this.#item(id);
    if (item === undefined) return undefined;
    if (item instanceof SegmentVariable) {
      item.object.variables.delete(id);
      this.#items.delete(id);
      return { kind: 'variable-removed', variable: item };
    }
    item.isRemoved = true;
    (item.parent?.children ?? this.roots).delete(id);
    this.#removals.push(this.#freeing(item));
    return { kind: 'object-removed', object: item };
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

  /** Frees a subtree, one item per step. */
  *#freeing(object: ObjectNode): Generator<void, void> {
    for (const child of object.children) yield* this.#freeing(child);
    for (const { id } of object.variables) {
      this.#items.delete(id);
      yield;
    }
    this.#items.delete(object.id);
    yield;
  }

  /** The object or variable with an id, unless it was removed. */
  #item(id: number): Item | undefined {
    const item = this.#items.get(id);
    let at = item instanceof SegmentVariable ? item.object : item;
    for (; at !== undefined; at = at.parent) if (at.isRemoved) return undefined;
    return item;
  }
}
