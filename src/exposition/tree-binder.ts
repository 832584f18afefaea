// Schedules a target's work on its tree in slices: removed nodes, added nodes, and the rest of the initial tree.
import { Budget } from '../budget.js';
import type { ManagedObject, Source, StructureChange } from '../model.js';
import type { Cost } from '../budget.js';
import { PendingNodes, isVariable } from './read/tree-walk.js';
import type { TrackedTree } from './tracked-tree.js';

/** Steps of work in one slice. Adding, looking up or removing a line is one step, or more for a long line. */
export const STEPS_PER_SLICE = 1024;
/** The steps of visiting a node. Tracking it takes further steps. */
const NODE_COST = 1;
const FEW_NODES = 8;
/** Steps between two checks for lost values and for the end of the slice. */
const FEW_STEPS = 16;
/** The maximum number of queued changes. Further changes are applied before the caller continues. */
const MAX_PENDING = 1 << 18;

export interface TreeBinderParts {
  readonly root: ManagedObject;
  readonly source: Source;
  readonly tree: TrackedTree;
  readonly pending: PendingNodes;
  /** Counts the steps of work. The tracked tree adds its own steps. */
  readonly cost: Cost;
  /** Returns the budget of one call whose remaining work can wait; by default, `STEPS_PER_SLICE` steps. */
  readonly slice: (() => Budget) | undefined;
}

export class TreeBinder {
  readonly #parts: TreeBinderParts;
  readonly #tree: TrackedTree;
  readonly #pending: PendingNodes;
  readonly #cost: Cost;
  /** Whether the caller will call `bindMore` again, since work is left. */
  #isScheduled = true;
  #wake: (() => void) | undefined;
  /**
   * Each function does one unit of work, and returns false if no work is left. The functions are created once, since
   * they run for each of a million nodes.
   */
  readonly #bindChanged = (): boolean => this.removeNext() || this.#addNext();
  readonly #bindAny = (budget: Budget): boolean =>
    this.removeNext() || this.#bindNext(budget) || this.#addNext();

  constructor(parts: TreeBinderParts) {
    this.#parts = parts;
    this.#tree = parts.tree;
    this.#pending = parts.pending;
    this.#cost = parts.cost;
  }

  /** Whether all nodes of the current tree have been processed. */
  get isBound(): boolean {
    return this.#pending.isEmpty;
  }

  /** Whether there are still nodes to bind, or copied values to report. */
  get hasMore(): boolean {
    return !this.isBound || this.#tree.slotReader.hasUnreported;
  }

  /** Whether there are too many new nodes to show all of them right after the next copy. */
  get #hasManyNew(): boolean {
    return this.#tree.slotReader.newNodes > FEW_NODES;
  }

  /** Binds the next slice; false once nothing is left. */
  bindMore(): boolean {
    const slice = this.#slice();
    this.#bindWithin(slice);
    if (!this.hasMore && this.#hasManyNew) {
      this.#tree.readNew();
      this.#bindWithin(slice);
    }
    this.#isScheduled = this.hasMore;
    if (this.#isScheduled) this.#wake?.();
    return this.#isScheduled;
  }

  /**
   * Calls `wake` whenever `bindMore` must be called again, but not before the first call of `bindMore`. The returned
   * function removes the listener. Without a listener, changes are bound at once.
   */
  onMoreToBind(wake: () => void): () => void {
    this.#wake = wake;
    return () => {
      if (this.#wake === wake) this.#wake = undefined;
    };
  }

  /** Queues changes and binds a slice, or more than one if too many changes are queued. */
  queue(changes: readonly StructureChange[]): void {
    for (const change of changes) this.#pending.add(change);
    this.bindSlice();
    while (this.#pending.size > MAX_PENDING) this.#bindWithin(this.#slice());
  }

  /** Processes queued changes: one slice if the caller handles the rest later, otherwise all changes. */
  bindSlice(): void {
    if (!this.#isScheduled && this.#wake === undefined) {
      this.#bindWithin(new Budget());
      return;
    }
    this.#bindWithin(this.#slice());
    if (this.#isScheduled || !(this.hasMore || this.#hasManyNew)) return;
    this.#isScheduled = true;
    this.#wake?.();
  }

  /** Processes queued changes, slice by slice, but not the rest of the initial tree. */
  *applyingChanges(): Generator<void, void> {
    while (this.#pending.size > 0 || this.#tree.slotReader.hasUnreported) {
      this.#bindWithin(this.#slice());
      yield;
    }
  }

  /**
   * Removes from the text the next node that was removed or lost its value; false if there is none.
   */
  removeNext(): boolean {
    const node = this.#pending.nextRemoved();
    if (node === undefined) return this.#counted(this.#tree.slotReader.reportUnsynced());
    this.#cost.steps += NODE_COST;
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

  /** Drops all queued work. */
  close(): void {
    this.#wake = undefined;
    this.#pending.clear();
  }

  #slice(): Budget {
    return this.#parts.slice?.() ?? new Budget({ steps: STEPS_PER_SLICE });
  }

  /**
   * Works until the budget is spent. The first half is reserved for changes, so that neither changes nor the initial
   * tree starve.
   */
  #bindWithin(budget: Budget): void {
    while (!budget.isHalfSpent && this.#stepWithin(budget, this.#bindChanged));
    while (!budget.isSpent && this.#stepWithin(budget, this.#bindAny));
  }

  #stepWithin(budget: Budget, step: (budget: Budget) => boolean): boolean {
    const before = this.#cost.steps;
    const isDone = step(budget);
    budget.spend(this.#cost.steps - before);
    return isDone;
  }

  /** Tracks the next added node, if it still exists. */
  #addNext(): boolean {
    const node = this.#pending.nextAdded();
    if (node === undefined) return false;
    this.#cost.steps += NODE_COST;
    const isInTree = isVariable(node) ? node.object.variables.has(node) : this.#isInTree(node);
    if (isInTree) this.#tree.add(node);
    return true;
  }

  /** Shows a few nodes that got their values, then binds a few nodes of the tree. */
  #bindNext(budget: Budget): boolean {
    const cost = this.#cost;
    const { slotReader } = this.#tree;
    const begin = cost.steps;
    const end = begin + Math.min(FEW_STEPS, budget.stepsLeft);
    // Removals first: the former node of a reused slot may be among them.
    while (cost.steps < end && !this.#pending.removesAny && slotReader.reportSynced())
      cost.steps += NODE_COST;
    while (cost.steps < end && !this.#pending.removesAny) {
      const node = this.#pending.nextExisting();
      if (node === undefined) break;
      this.#tree.add(node);
    }
    return cost.steps > begin;
  }

  #counted(isDone: boolean): boolean {
    if (isDone) this.#cost.steps += NODE_COST;
    return isDone;
  }

  /** Whether an object is the root or below it now. A removed object is in no set of children. */
  #isInTree(object: ManagedObject): boolean {
    const { root, source } = this.#parts;
    let at = object;
    while (at !== root) {
      if (at.parent?.children.has(at) !== true) return false;
      at = at.parent;
    }
    return source.roots.has(root);
  }
}
