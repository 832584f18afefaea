// What a view has still to take in: what was removed, what was added, and the rest of its tree.
import type { ManagedObject, StructureChange, Variable } from '../../model.js';
import { Backlog } from './backlog.js';
import { TreeWalk } from './tree-walk.js';

type Item = ManagedObject | Variable;

/** Removals go first; that loses nothing, as what was added and is gone again is left out. */
export class PendingItems {
  readonly #removed = new Backlog<Item>();
  readonly #added = new Backlog<Item>();
  readonly #walk: TreeWalk;
  /** The object whose removal is under way, with all below it. */
  #leaving: TreeWalk | undefined;

  constructor(root: ManagedObject) {
    this.#walk = new TreeWalk(root, true);
  }

  /** Changes and objects under way that wait, without the rest of the tree. */
  get size(): number {
    return this.#added.size + this.#removed.size + (this.#leaving === undefined ? 0 : 1);
  }

  get isEmpty(): boolean {
    return this.size === 0 && this.#walk.isOver;
  }

  get hasRemovals(): boolean {
    return this.#removed.size > 0 || this.#leaving !== undefined;
  }

  take(change: StructureChange): void {
    if (change.kind === 'object-added') this.#added.add(change.object);
    else if (change.kind === 'variable-added') this.#added.add(change.variable);
    else if (change.kind === 'object-removed') this.remove(change.object);
    else this.#removed.add(change.variable);
  }

  /** Has an object removed, with all that is below it. */
  remove(object: ManagedObject): void {
    this.#walk.leave(object);
    this.#removed.add(object);
  }

  /** The next that is to be removed; an object comes after all that is below it. */
  nextRemoved(): Item | undefined {
    for (;;) {
      const item = this.#leaving?.next();
      if (item !== undefined) return item;
      const next = this.#removed.next();
      this.#leaving =
        next === undefined || isVariable(next) ? undefined : new TreeWalk(next, false);
      if (this.#leaving === undefined) return next;
    }
  }

  /** The next that was added, whether it is still there or not. */
  nextAdded(): Item | undefined {
    return this.#added.next();
  }

  clear(): void {
    this.#removed.clear();
    this.#added.clear();
    this.#leaving = undefined;
    this.#walk.end();
  }

  /** The next of what was there already; an object comes before all that is below it. */
  nextBound(): Item | undefined {
    return this.#walk.next();
  }
}

export const isVariable = (item: Item): item is Variable => 'object' in item;
