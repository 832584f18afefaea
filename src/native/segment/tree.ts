// The managed objects of one source, built from its records.
import type {
  ManagedObject,
  RootIdentity,
  SlotRef,
  StructureChange,
  Variable,
} from '../../model.js';
import { LIMITS } from './layout.js';

export interface ObjectNode extends ManagedObject {
  readonly parent: ObjectNode | undefined;
  readonly children: Set<ObjectNode>;
  readonly variables: Set<VariableNode>;
  /** Objects on the path from the root to this one, both counted. */
  readonly depth: number;
  /** The last round of records that named it. */
  round: number;
}

export interface VariableNode extends Variable {
  readonly object: ObjectNode;
  /** Offset and length of its frame, in 8-byte units; 0 for scalars. */
  readonly frameOffset: number;
  readonly frameWords: number;
  /** The last round of records that named it. */
  round: number;
}

export const NO_IDENTITY: RootIdentity = { host: '', instance: '', application: '' };

/** The contents of an object's record, strings resolved. */
export interface ObjectFacts extends SlotRef {
  readonly id: number;
  readonly name: string;
  readonly className: string;
  readonly identity: RootIdentity;
  readonly asOf: SlotRef | undefined;
}

/** The contents of a variable's record, strings resolved. */
export type VariableFacts = Omit<VariableNode, 'object' | 'round'>;

/** The most live objects and variables that a reader keeps; it rejects a larger segment. */
export const MAX_NODES = 1 << 21;

export class Tree {
  readonly roots = new Set<ObjectNode>();
  readonly #objects = new Map<number, ObjectNode>();
  readonly #variables = new Map<number, VariableNode>();
  #round = 0;

  get size(): number {
    return this.#objects.size + this.#variables.size;
  }

  object(id: number): ObjectNode | undefined {
    return this.#objects.get(id);
  }

  variable(id: number): VariableNode | undefined {
    return this.#variables.get(id);
  }

  /** Begins a new round: `sweep()` removes items that the round did not name. */
  beginRound(): void {
    this.#round++;
  }

  /** Names an object or variable in this round; false if it does not exist. */
  name(id: number): boolean {
    const node = this.#objects.get(id) ?? this.#variables.get(id);
    if (node !== undefined) node.round = this.#round;
    return node !== undefined;
  }

  /**
   * Removes items that this round did not name, children before parents, one object or variable per
   * step. Nothing may be added before it ends.
   */
  *sweep(): Generator<StructureChange | undefined, void> {
    for (const [id, { round }] of this.#variables)
      yield round === this.#round ? undefined : this.remove(id);
    const unnamed: number[] = [];
    for (const [id, { round }] of this.#objects) {
      if (round !== this.#round) unnamed.push(id);
      yield undefined;
    }
    // Children have higher ids than their parents.
    for (let id = unnamed.pop(); id !== undefined; id = unnamed.pop()) yield this.remove(id);
  }

  /** Adds an object below `parent`, or as a root. The caller has checked ids and depth. */
  addObject(facts: ObjectFacts, parent: ObjectNode | undefined): StructureChange {
    // Property by property: V8 gives each object built by spreading a hidden class of its own.
    const { id, slot, incarnation, name, className, identity, asOf } = facts;
    const object: ObjectNode = {
      id,
      slot,
      incarnation,
      name,
      className,
      identity,
      asOf,
      parent,
      children: new Set(),
      variables: new Set(),
      depth: (parent?.depth ?? 0) + 1,
      round: this.#round,
    };
    this.#objects.set(object.id, object);
    (parent?.children ?? this.roots).add(object);
    return { kind: 'object-added', object };
  }

  addVariable(facts: VariableFacts, object: ObjectNode): StructureChange {
    const { id, slot, incarnation, name, type, kind, unit, help, schema } = facts;
    const { frameOffset, frameWords } = facts;
    const variable: VariableNode = {
      id,
      slot,
      incarnation,
      object,
      name,
      type,
      kind,
      unit,
      help,
      schema,
      frameOffset,
      frameWords,
      round: this.#round,
    };
    this.#variables.set(id, variable);
    object.variables.add(variable);
    return { kind: 'variable-added', variable };
  }

  /** Removes an object with everything below it, or a variable; ignores ids that do not exist. */
  remove(id: number): StructureChange | undefined {
    const variable = this.#variables.get(id);
    if (variable !== undefined) {
      this.#variables.delete(id);
      variable.object.variables.delete(variable);
      return { kind: 'variable-removed', variable };
    }
    const object = this.#objects.get(id);
    if (object === undefined) return undefined;
    (object.parent?.children ?? this.roots).delete(object);
    this.#forget(object);
    return { kind: 'object-removed', object };
  }

  /** Removes a subtree from the indexes; recursion is safe, since depth is bounded on insertion. */
  #forget(object: ObjectNode): void {
    this.#objects.delete(object.id);
    for (const variable of object.variables) this.#variables.delete(variable.id);
    for (const child of object.children) this.#forget(child);
  }
}

export const isTooDeep = (parent: ObjectNode | undefined): boolean =>
  (parent?.depth ?? 0) >= LIMITS.depth;
