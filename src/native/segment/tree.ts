// The managed objects of one source, as its records tell of them.
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
  /** The round of records that named it last. */
  round: number;
}

export interface VariableNode extends Variable {
  readonly object: ObjectNode;
  /** Where its frame stands and how long it is, in 8-byte units; 0 for scalars. */
  readonly frameOffset: number;
  readonly frameWords: number;
  /** The round of records that named it last. */
  round: number;
}

export const NO_IDENTITY: RootIdentity = { host: '', instance: '', application: '' };

/** What a record of an object says, strings resolved. */
export interface ObjectFacts extends SlotRef {
  readonly id: number;
  readonly name: string;
  readonly className: string;
  readonly identity: RootIdentity;
  readonly asOf: SlotRef | undefined;
}

/** What a record of a variable says, strings resolved. */
export type VariableFacts = Omit<VariableNode, 'object' | 'round'>;

/** Live objects and variables a reader keeps at most; beyond it a segment is refused. */
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

  /** Begins to name anew what there is: `sweep()` removes what is not named until then. */
  beginRound(): void {
    this.#round++;
  }

  /** Names an object or variable in this round; false when it is not there. */
  name(id: number): boolean {
    const node = this.#objects.get(id) ?? this.#variables.get(id);
    if (node !== undefined) node.round = this.#round;
    return node !== undefined;
  }

  /**
   * Removes what was not named in this round, what is below before what is above, so that no step is
   * more than one object or variable. Nothing may be added before it is over.
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
    // Property by property: V8 gives each object that is made by spreading a shape of its own.
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

  /** Removes an object with all that is below it, or a variable; what is gone already is no error. */
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

  /** Takes a subtree out of the indexes; its depth is bounded when it is built. */
  #forget(object: ObjectNode): void {
    this.#objects.delete(object.id);
    for (const variable of object.variables) this.#variables.delete(variable.id);
    for (const child of object.children) this.#forget(child);
  }
}

export const isTooDeep = (parent: ObjectNode | undefined): boolean =>
  (parent?.depth ?? 0) >= LIMITS.depth;
