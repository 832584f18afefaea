// Schedules a target's work on its tree in slices: removed items, added items, and the rest of the initial tree.
import { Budget } from '../budget.js';
import type { ManagedObject, Source, StructureChange } from '../model.js';
import type { Cost } from '../budget.js';
import { PendingNodes, isVariable } from './read/tree-walk.js';
import type { TrackedTree } from './tracked-tree.js';

/** Steps of work in one slice. Adding, looking up or removing a line is one step, or more for a long line. */
export const VIEW_STEPS = 1024;
/** The steps of any item, beside those of tracking it. */
const ITEM_EFFORT = 1;
const FEW_ITEMS = 8;
/** Steps between two checks for lost values and for the end of the slice. */
const FEW_STEPS = 16;
/** The most queued changes: a caller that adds more must wait for them. */
const MAX_PENDING = 1 << 18;

export interface TreeWorkParts {
  readonly root: ManagedObject;
  readonly source: Source;
  readonly tree: TrackedTree;
  readonly pending: PendingNodes;
  /** What the tree adds to, too. */
  readonly cost: Cost;
  /** The most work of one call if the rest can wait; by default `VIEW_STEPS`. */
  readonly slice: (() => Budget) | undefined;
}

export class TreeWork {
  readonly #parts: TreeWorkParts;
  readonly #tree: TrackedTree;
  readonly #pending: PendingNodes;
  readonly #cost: Cost;
  /** Whether the caller will call `more` again, since work is left. */
  #isDriven = true;
  #wake: (() => void) | undefined;
  /** Units of work; false if there is none. Created once, since they run for each of a million items. */
  readonly #change = (): boolean => this.removeNext() || this.#addNext();
  readonly #anything = (budget: Budget): boolean =>
    this.removeNext() || this.#bindNext(budget) || this.#addNext();

  constructor(parts: TreeWorkParts) {
    this.#parts = parts;
    this.#tree = parts.tree;
    this.#pending = parts.pending;
    this.#cost = parts.cost;
  }

  /** Whether every item of the tree so far has been processed. */
  get isBound(): boolean {
    return this.#pending.isEmpty;
  }

  /** Whether items are left to bind, or reports of copied values. */
  get hasMore(): boolean {
    return !this.isBound || this.#tree.slotReader.hasUnreported;
  }

  /** Whether new items are too many to be shown with the next copy at once. */
  get #hasManyUnread(): boolean {
    return this.#tree.slotReader.unread > FEW_ITEMS;
  }

  /** Does the next slice; false once nothing is left. */
  more(): boolean {
    const slice = this.#slice();
    this.#workOn(slice);
    if (!this.hasMore && this.#hasManyUnread) {
      this.#tree.readNew();
      this.#workOn(slice);
    }
    this.#isDriven = this.hasMore;
    if (this.#isDriven) this.#wake?.();
    return this.#isDriven;
  }

  /**
   * Calls back whenever `more` is to be called again, after the first time; returns a function that
   * ends this. Without a listener, no work is left for later.
   */
  onMoreToBind(wake: () => void): () => void {
    this.#wake = wake;
    return () => {
      if (this.#wake === wake) this.#wake = undefined;
    };
  }

  /** Queues changes and does a slice, or more where too many are queued. */
  take(changes: readonly StructureChange[]): void {
    for (const change of changes) this.#pending.take(change);
    this.catchUp();
    while (this.#pending.size > MAX_PENDING) this.#workOn(this.#slice());
  }

  /** Does the queued work: one slice if a caller handles the rest, else all of it. */
  catchUp(): void {
    if (!this.#isDriven && this.#wake === undefined) {
      this.#workOn(new Budget());
      return;
    }
    this.#workOn(this.#slice());
    if (this.#isDriven || !(this.hasMore || this.#hasManyUnread)) return;
    this.#isDriven = true;
    this.#wake?.();
  }

  /** Does the queued work, slice by slice, without the rest of the tree that existed from the start. */
  *applyingChanges(): Generator<void, void> {
    while (this.#pending.size > 0 || this.#tree.slotReader.hasUnreported) {
      this.#workOn(this.#slice());
      yield;
    }
  }

  /**
   * Takes the next item that was removed or lost its value out of the text; false if there is none.
   */
  removeNext(): boolean {
    const node = this.#pending.nextRemoved();
    if (node === undefined) return this.#counted(this.#tree.slotReader.reportUnsynced());
    this.#cost.steps += ITEM_EFFORT;
    if (!isVariable(node)) {
      const left = this.#tree.variablesOf(node);
      if (left.length > 0) {
        this.#pending.removeFirst(node, left);
        return true;
      }
    }
    this.#tree.remove(node);
    return true;
  }

  /** Drops all that is queued. */
  close(): void {
    this.#wake = undefined;
    this.#pending.clear();
  }

  #slice(): Budget {
    return this.#parts.slice?.() ?? new Budget({ steps: VIEW_STEPS });
  }

  /** Works until the budget is spent. The first half is reserved for changes, so that neither they nor the tree starve. */
  #workOn(budget: Budget): void {
    while (!budget.isHalfSpent && this.#spending(budget, this.#change));
    while (!budget.isSpent && this.#spending(budget, this.#anything));
  }

  #spending(budget: Budget, work: (budget: Budget) => boolean): boolean {
    const before = this.#cost.steps;
    const isDone = work(budget);
    budget.spend(this.#cost.steps - before);
    return isDone;
  }

  /** Tracks the next added item, if it still exists. */
  #addNext(): boolean {
    const node = this.#pending.nextAdded();
    if (node === undefined) return false;
    this.#cost.steps += ITEM_EFFORT;
    const isThere = isVariable(node) ? node.object.variables.has(node) : this.#isThere(node);
    if (isThere) this.#tree.add(node);
    return true;
  }

  /** Shows the next items that got their values, then binds the next items of the tree: a few of both. */
  #bindNext(budget: Budget): boolean {
    const cost = this.#cost;
    const { slotReader } = this.#tree;
    const begin = cost.steps;
    const end = begin + Math.min(FEW_STEPS, budget.stepsLeft);
    // Removals first: the former owner of a reused slot may be among them.
    while (cost.steps < end && !this.#pending.removesAny && slotReader.reportSynced())
      cost.steps += ITEM_EFFORT;
    while (cost.steps < end && !this.#pending.removesAny) {
      const node = this.#pending.nextBound();
      if (node === undefined) break;
      this.#tree.add(node);
    }
    return cost.steps > begin;
  }

  #counted(isDone: boolean): boolean {
    if (isDone) this.#cost.steps += ITEM_EFFORT;
    return isDone;
  }

  /** True if an object is below the root now: a removed one is in no set of children. */
  #isThere(object: ManagedObject): boolean {
    const { root, source } = this.#parts;
    let at = object;
    while (at !== root) {
      if (at.parent?.children.has(at) !== true) return false;
      at = at.parent;
    }
    return source.roots.has(root);
  }
}
