// Walks a tree one step at a time, and queues nodes that are added and removed meanwhile.
import { FifoQueue } from '../../collections/by-id.js';
import type { ManagedObject, StructureChange, Variable } from '../../model.js';

/** An object, whose slot holds its state, or a variable, whose slot holds its value. */
export type TreeNode = ManagedObject | Variable;

/**
 * Queues added and removed nodes. All queued removals go first. This is safe even if a node was added and then removed:
 * its addition is skipped, since the node no longer exists.
 */
export class PendingNodes {
  readonly #removed = new FifoQueue<TreeNode>();
  readonly #added = new FifoQueue<TreeNode>();
  readonly #walk: TreeWalk;
  /** The object that is being removed, with everything below it. */
  #removing: TreeWalk | undefined;
  /** A stack of nodes to remove before all others. */
  readonly #first: TreeNode[] = [];

  constructor(root: ManagedObject) {
    this.#walk = new TreeWalk(root, true);
  }

  /**
   * The number of queued changes, plus one while an object is being removed. Nodes of the initial tree that the
   * walk has not reached are not counted.
   */
  get size(): number {
    const leaving = this.#removing === undefined ? 0 : 1;
    return this.#added.size + this.#removed.size + this.#first.length + leaving;
  }

  get isEmpty(): boolean {
    return this.size === 0 && this.#walk.isOver;
  }

  add(change: StructureChange): void {
    if (change.kind === 'object-added') this.#add(change.object);
    else if (change.kind === 'variable-added') this.#add(change.variable);
    else if (change.kind === 'object-removed') this.remove(change.object);
    else this.#removed.add(change.variable);
  }

  /** Queues an added node, unless the walk of the initial tree will reach it. */
  #add(node: TreeNode): void {
    if (!this.#walk.willVisit(node)) this.#added.add(node);
  }

  /** Queues the removal of an object and everything below it. */
  remove(object: ManagedObject): void {
    this.#walk.skip(object);
    this.#removed.add(object);
  }

  /** Makes these variables and then their object the next nodes to remove. */
  removeFirst(object: ManagedObject, variables: readonly Variable[]): void {
    this.#first.push(object);
    for (const variable of variables) this.#first.push(variable);
  }

  /** The next node to remove; an object follows everything below it. */
  nextRemoved(): TreeNode | undefined {
    const first = this.#first.pop();
    if (first !== undefined) return first;
    for (;;) {
      const node = this.#removing?.next();
      if (node !== undefined) return node;
      const next = this.#removed.next();
      this.#removing =
        next === undefined || isVariable(next) ? undefined : new TreeWalk(next, false);
      if (this.#removing === undefined) return next;
    }
  }

  /** The next added node, which may have been removed since. */
  nextAdded(): TreeNode | undefined {
    return this.#added.next();
  }

  clear(): void {
    this.#removed.clear();
    this.#added.clear();
    this.#first.length = 0;
    this.#removing = undefined;
    this.#walk.end();
  }

  /** The next node of the initial tree; an object comes before everything below it. */
  nextExisting(): TreeNode | undefined {
    return this.#walk.next();
  }
}

export const isVariable = (node: TreeNode): node is Variable => 'object' in node;

/** The text that names a node in a message. */
export const nodeText = (node: TreeNode): string =>
  isVariable(node) ? `variable ${node.name} of ${node.object.name}` : `object ${node.name}`;

interface Level {
  readonly object: ManagedObject;
  /**
   * Live iterators: they skip nodes that are removed before the walk reaches them, and visit nodes that are added.
   */
  readonly variables: Iterator<Variable>;
  readonly children: Iterator<ManagedObject>;
  hasAllVariables: boolean;
  /** The id of the child that was entered last; children come in the order of their ids. */
  lastChild: number;
}

/**
 * Visits an object, its variables and everything below it. The time of a step does not depend on the size of the tree.
 */
export class TreeWalk {
  readonly #objectsFirst: boolean;
  readonly #levels: Level[] = [];
  /** The object that was just entered. `next` clears it, and returns it if `objectsFirst` is true. */
  #entered: ManagedObject | undefined;

  /** @param objectsFirst true to visit an object before everything below it, false to visit it after that */
  constructor(top: ManagedObject, objectsFirst: boolean) {
    this.#objectsFirst = objectsFirst;
    this.#enter(top);
  }

  get isOver(): boolean {
    return this.#levels.length === 0;
  }

  /** The next object or variable; undefined at the end. */
  next(): ManagedObject | Variable | undefined {
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      const entered = this.#entered;
      this.#entered = undefined;
      if (entered !== undefined && this.#objectsFirst) return entered;
      const variable = level.variables.next();
      if (variable.done !== true) return variable.value;
      level.hasAllVariables = true;
      const child = level.children.next();
      if (child.done !== true) {
        level.lastChild = child.value.id;
        this.#enter(child.value);
      } else {
        this.#levels.pop();
        if (!this.#objectsFirst) return level.object;
      }
    }
    return undefined;
  }

  /** Whether the walk will reach a node that was just added. */
  willVisit(node: ManagedObject | Variable): boolean {
    return isVariable(node) ? this.#willVisit(node.object, true) : this.#willVisit(node, false);
  }

  /** Whether the walk will reach an object or, with `ofVariables`, variables that are added to the object. */
  #willVisit(node: ManagedObject, ofVariables: boolean): boolean {
    if (this.isOver) return false;
    const level = this.#levelOf(ofVariables ? node : node.parent);
    if (level !== undefined) return !ofVariables || !level.hasAllVariables;
    // The walk is either before the object or past it. Find the nearest ancestor whose children the walk is visiting,
    // and compare the ids of two of its children: the one above the object, and the one that was entered last.
    let below = node;
    for (let above = below.parent; above !== undefined; above = below.parent) {
      const open = this.#levelOf(above);
      if (open !== undefined) return below.id > open.lastChild;
      below = above;
    }
    return false;
  }

  /** Skips the rest of an object that was removed, and everything below it. */
  skip(object: ManagedObject): void {
    const at = this.#levels.findIndex((level) => level.object === object);
    if (at >= 0) this.#cut(at);
  }

  end(): void {
    this.#cut(0);
  }

  #cut(levels: number): void {
    this.#levels.length = levels;
    this.#entered = undefined;
  }

  #levelOf(object: ManagedObject | undefined): Level | undefined {
    return this.#levels.findLast((level) => level.object === object);
  }

  #enter(object: ManagedObject): void {
    const { variables, children } = object;
    this.#entered = object;
    this.#levels.push({
      object,
      variables: variables[Symbol.iterator](),
      children: children[Symbol.iterator](),
      hasAllVariables: false,
      lastChild: 0,
    });
  }
}

/** All nodes from an object down, in tree order: an object, its variables, then the objects below it. */
export function* nodesBelow(top: ManagedObject): Generator<TreeNode, void> {
  const walk = new TreeWalk(top, true);
  for (let node = walk.next(); node !== undefined; node = walk.next()) yield node;
}
