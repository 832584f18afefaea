// The work that a view has left: removed items, added items, and the rest of its tree.
import { Backlog } from '../../collections/by-id.js';
import type { ManagedObject, StructureChange, Variable } from '../../model.js';
import { TreeWalk } from './tree-walk.js';

type Item = ManagedObject | Variable;

/** Removals go first; that loses nothing, since items added and removed again are skipped. */
export class PendingItems {
  readonly #removed = new Backlog<Item>();
  readonly #added = new Backlog<Item>();
  readonly #walk: TreeWalk;
  /** The object that is being removed, with everything below it. */
  #leaving: TreeWalk | undefined;
  /** What is to be removed before all else, the last one first. */
  readonly #first: Item[] = [];

  constructor(root: ManagedObject) {
    this.#walk = new TreeWalk(root, true);
  }

  /** Queued changes and the object being removed, without the rest of the tree. */
  get size(): number {
    const leaving = this.#leaving === undefined ? 0 : 1;
    return this.#added.size + this.#removed.size + this.#first.length + leaving;
  }

  /** Whether `nextRemoved` has one. */
  get removesAny(): boolean {
    return this.#removed.size > 0 || this.#leaving !== undefined || this.#first.length > 0;
  }

  get isEmpty(): boolean {
    return this.size === 0 && this.#walk.isOver;
  }

  take(change: StructureChange): void {
    if (change.kind === 'object-added') this.#add(change.object);
    else if (change.kind === 'variable-added') this.#add(change.variable);
    else if (change.kind === 'object-removed') this.remove(change.object);
    else this.#removed.add(change.variable);
  }

  /** While the tree is bound, most of what is added is still ahead in it. */
  #add(item: Item): void {
    if (!this.#walk.willVisit(item)) this.#added.add(item);
  }

  /** Queues the removal of an object and everything below it. */
  remove(object: ManagedObject): void {
    this.#walk.leave(object);
    this.#removed.add(object);
  }

  /** Has an object removed next, after these variables of it. */
  removeFirst(object: ManagedObject, variables: readonly Variable[]): void {
    this.#first.push(object);
    for (const variable of variables) this.#first.push(variable);
  }

  /** The next item to remove; an object comes after everything that is below it in the tree. */
  nextRemoved(): Item | undefined {
    const first = this.#first.pop();
    if (first !== undefined) return first;
    for (;;) {
      const item = this.#leaving?.next();
      if (item !== undefined) return item;
      const next = this.#removed.next();
      this.#leaving =
        next === undefined || isVariable(next) ? undefined : new TreeWalk(next, false);
      if (this.#leaving === undefined) return next;
    }
  }

  /** The next added item, whether it still exists or not. */
  nextAdded(): Item | undefined {
    return this.#added.next();
  }

  clear(): void {
    this.#removed.clear();
    this.#added.clear();
    this.#first.length = 0;
    this.#leaving = undefined;
    this.#walk.end();
  }

  /** The next item that existed from the start; an object comes before everything below it. */
  nextBound(): Item | undefined {
    return this.#walk.next();
  }
}

export const isVariable = (item: Item): item is Variable => 'object' in item;
