// The managed objects of one source, built from its records.
import type { ManagedObject, RootIdentity, SlotRef, StructureChange } from '../../model.js';
import { IdRuns } from './id-runs.js';
import { LIMITS } from './layout.js';
import { ObjectVariables } from './object-variables.js';
import type { FramePlace, VariableFacts } from './object-variables.js';

export interface ObjectNode extends ManagedObject {
  readonly parent: ObjectNode | undefined;
  readonly children: Set<ObjectNode>;
  readonly variables: ObjectVariables;
  /** Objects on the path from the root to this one, both counted. */
  readonly depth: number;
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

/** The most live objects and variables that a reader keeps; it rejects a larger segment. */
export const MAX_NODES = 1 << 21;

export class Tree {
  readonly roots = new Set<ObjectNode>();
  readonly #objects = new Map<number, ObjectNode>();
  /** The objects of variables, by the variables' ids. */
  readonly #owners = new IdRuns<ObjectNode>(
    (object, first, end) =>
      this.#objects.get(object.id) === object && object.variables.hasBetween(first, end),
  );
  readonly #frames = new Map<number, FramePlace>();
  #variables = 0;
  #round = 0;

  get size(): number {
    return this.#objects.size + this.#variables;
  }

  object(id: number): ObjectNode | undefined {
    return this.#objects.get(id);
  }

  /** Where the frame of a variable is. */
  frame(id: number): FramePlace | undefined {
    return this.#frames.get(id);
  }

  /** Begins a new round: `sweep()` removes items that the round did not name. */
  beginRound(): void {
    this.#round++;
  }

  /** Names an object or variable in this round; false if it does not exist. */
  name(id: number): boolean {
    const object = this.#objects.get(id);
    if (object !== undefined) object.round = this.#round;
    return object !== undefined || this.#ownerOf(id)?.variables.name(id, this.#round) === true;
  }

  /**
   * Removes items that this round did not name, children before parents, one object or variable per
   * step. Nothing may be added before it ends.
   */
  *sweep(): Generator<StructureChange | undefined, void> {
    const unnamed: number[] = [];
    for (const [id, { round, variables }] of this.#objects) {
      for (const variable of variables.unnamed(this.#round))
        yield variable === undefined ? undefined : this.remove(variable);
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
    const variables = new ObjectVariables();
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
      variables,
      depth: (parent?.depth ?? 0) + 1,
      round: this.#round,
    };
    variables.object = object;
    this.#objects.set(object.id, object);
    (parent?.children ?? this.roots).add(object);
    return { kind: 'object-added', object };
  }

  /** Adds a variable, whose id is higher than that of any other. */
  addVariable(facts: VariableFacts, object: ObjectNode): StructureChange {
    this.#owners.add(facts.id, object);
    this.#variables++;
    if (facts.frame !== undefined) this.#frames.set(facts.id, facts.frame);
    return { kind: 'variable-added', variable: object.variables.add(facts, this.#round) };
  }

  /** Removes an object with everything below it, or a variable; ignores ids that do not exist. */
  remove(id: number): StructureChange | undefined {
    const object = this.#objects.get(id);
    if (object === undefined) {
      const variable = this.#ownerOf(id)?.variables.delete(id);
      if (variable === undefined) return undefined;
      this.#forgetVariable(id);
      return { kind: 'variable-removed', variable };
    }
    (object.parent?.children ?? this.roots).delete(object);
    this.#forget(object);
    return { kind: 'object-removed', object };
  }

  /** The object of a variable that exists. */
  #ownerOf(id: number): ObjectNode | undefined {
    const object = this.#owners.get(id);
    return object === undefined || this.#objects.get(object.id) !== object ? undefined : object;
  }

  /** Removes a subtree from the indexes; recursion is safe, since depth is bounded on insertion. */
  #forget(object: ObjectNode): void {
    this.#objects.delete(object.id);
    for (const id of object.variables.ids()) this.#forgetVariable(id);
    for (const child of object.children) this.#forget(child);
  }

  #forgetVariable(id: number): void {
    this.#variables--;
    this.#frames.delete(id);
  }
}

export const isTooDeep = (parent: ObjectNode | undefined): boolean =>
  (parent?.depth ?? 0) >= LIMITS.depth;
