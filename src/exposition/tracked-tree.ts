// Adds nodes of the tree to those that a target tracks, and removes them.
import { FilterCoverage } from '../catalogue/match/filters.js';
import { objectPath } from '../catalogue/match/row-index.js';
import type { ManagedObject, Variable } from '../model.js';
import { Highlight } from './read/highlight.js';
import { isVariable, nodeText } from './read/tree-walk.js';
import type { TreeNode } from './read/tree-walk.js';
import type { MetricBuilder } from './rows/metric-builder.js';
import { OmittedItems } from './target-limits.js';
import type { ViewContext } from './view-context.js';

/** The steps of an object to track, whose rows must be looked up. Other nodes are one step. Lines are extra steps. */
const OBJECT_STEPS = 4;

/** Tracks the nodes that the filters include, up to the limits of the target. */
export class TrackedTree {
  readonly filterCoverage: FilterCoverage;
  readonly highlight: Highlight | undefined;
  readonly omittedObjects: OmittedItems;
  /** Grouped by object. */
  readonly omittedVariables: OmittedItems;
  readonly #context: ViewContext;
  readonly #builder: MetricBuilder;

  constructor(context: ViewContext, builder: MetricBuilder) {
    const { source, root, filters, variable, counters } = context;
    this.#context = context;
    this.#builder = builder;
    this.filterCoverage = new FilterCoverage(filters);
    this.highlight = variable === '' ? undefined : new Highlight(source, root, variable);
    this.omittedObjects = new OmittedItems(counters, 'omittedObjects');
    this.omittedVariables = new OmittedItems(counters, 'omittedVariables');
  }

  /** Tracks the next node of the initial tree; false if there is none. */
  addExisting(): boolean {
    const node = this.#context.pending.nextExisting();
    if (node !== undefined) this.#add(node);
    return node !== undefined;
  }

  /** Tracks the next added node, if it still exists; false if no added node is queued. */
  addNext(): boolean {
    const { pending, budget } = this.#context;
    const node = pending.nextAdded();
    if (node === undefined) return false;
    budget.spend(1);
    const isInTree = isVariable(node) ? node.object.variables.has(node) : this.#isInTree(node);
    if (isInTree) this.#add(node);
    return true;
  }

  /** Shows the next node that got its value; false if there is none. */
  showNext(): boolean {
    const { slotReader, budget } = this.#context;
    const isDone = slotReader.reportSynced(this.#builder);
    if (isDone) budget.spend(1);
    return isDone;
  }

  /** Removes from the text the next node that was removed or lost its value; false if there is none. */
  removeNext(): boolean {
    const { pending, slotReader, budget } = this.#context;
    const node = pending.nextRemoved();
    const isDone = node !== undefined || slotReader.reportUnsynced(this.#builder);
    if (isDone) budget.spend(1);
    if (node === undefined) return isDone;
    if (isVariable(node)) this.#removeVariable(node);
    else {
      // Remove the variables of an object before it: their own removals may not have arrived yet.
      const variables = this.#builder.objects.variablesOf(node);
      if (variables.length > 0) pending.removeFirst(node, variables);
      else this.#removeObject(node);
    }
    return true;
  }

  /** Tracks a node, if the filters include it and no limit is reached. */
  #add(node: TreeNode): void {
    this.#context.budget.spend(isVariable(node) ? 1 : OBJECT_STEPS);
    if (isVariable(node)) this.#addVariable(node);
    else this.#addObject(node);
  }

  /** Whether an object is the root or below it now. A removed object is in no set of children. */
  #isInTree(object: ManagedObject): boolean {
    const { root, source } = this.#context;
    let at = object;
    while (at !== root) {
      if (at.parent?.children.has(at) !== true) return false;
      at = at.parent;
    }
    return source.roots.has(root);
  }

  #addObject(object: ManagedObject): void {
    this.highlight?.named.addObject(object);
    const { root, filters } = this.#context;
    if (this.#builder.objects.has(object)) return;
    const path = objectPath(root, object);
    if (!filters.tracks(path)) return;
    this.filterCoverage.addObject(path);
    this.#track(object);
  }

  #addVariable(variable: Variable): void {
    this.highlight?.named.addVariable(variable);
    if (!this.#builder.objects.has(variable.object)) return;
    if (!this.#context.nodes.isTracked(variable)) this.#track(variable);
  }

  /** Tracks a node, unless its slot belongs to a newer node or a limit is reached. */
  #track(node: TreeNode): void {
    if (!this.#untrackFormer(node) || !this.#admits(node)) return;
    const { slotReader, starts } = this.#context;
    const hasValue = slotReader.track(node);
    starts.track(node);
    this.#builder.add(node);
    if (hasValue) this.#builder.synced(node);
  }

  #removeObject(object: ManagedObject): void {
    this.highlight?.named.removeObject(object);
    this.omittedObjects.deleteAll(object.id);
    this.omittedVariables.deleteAll(object.id);
    if (!this.#builder.objects.has(object)) return;
    this.#builder.remove(object);
    this.#untrack(object);
  }

  #removeVariable(variable: Variable): void {
    this.highlight?.named.removeVariable(variable);
    this.omittedVariables.delete(variable.object.id, variable.id);
    // Do this even if another node is tracked at the slot: the object may list the variable under its name.
    this.#builder.remove(variable);
    this.#untrack(variable);
  }

  #untrack(node: TreeNode): void {
    const { slotReader, starts } = this.#context;
    slotReader.untrack(node);
    starts.untrack(node);
  }

  /**
   * Untracks the former node in the slot of a new node, since the removal of the former node may arrive later. Returns
   * false if the slot belongs to an even newer node: the given node has then been removed already.
   */
  #untrackFormer({ id, slot }: TreeNode): boolean {
    const { nodes } = this.#context;
    // Fast path: usually, the slot has no node.
    const former = nodes.id(slot) === 0 ? undefined : nodes.node(slot);
    if (former === undefined) return true;
    if (former.id > id) return false;
    if (isVariable(former)) this.#removeVariable(former);
    else this.#evict(former);
    return true;
  }

  /** Hides the lines of an object, and queues its removal with everything below it. */
  #evict(object: ManagedObject): void {
    const { nodes, pending } = this.#context;
    if (nodes.isSynced(object)) this.#builder.unsynced(object);
    this.#untrack(object);
    pending.remove(object);
  }

  /** Whether the limits allow one more node. Counts the node as omitted if they do not. */
  #admits(node: TreeNode): boolean {
    const { usage, onOmitted } = this.#context;
    const [kind, omitted, { id }] = isVariable(node)
      ? (['variables', this.omittedVariables, node.object] as const)
      : (['objects', this.omittedObjects, node] as const);
    const limit = usage.reached(kind);
    if (limit === undefined) omitted.delete(id, node.id);
    else {
      omitted.add(id, node.id);
      onOmitted(limit, nodeText(node));
    }
    return limit === undefined;
  }
}
