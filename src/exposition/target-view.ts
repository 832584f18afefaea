// The state of one target: the nodes that it tracks below its root, their sync progress, and its text. The view works
// on the tree in small steps: removed nodes, added nodes, and the rest of the initial tree.
import { Budget, Cost } from '../budget.js';
import type { LineForm, Snapshot, StructureChange, SyncProgress } from '../model.js';
import { newCounters } from './counters.js';
import type { Counters } from './counters.js';
import type { HighlightedValue } from './read/highlight.js';
import { SlotReader } from './read/slot-reader.js';
import { PendingNodes, isVariable } from './read/tree-walk.js';
import type { CatalogueCoverage } from './rows/catalogue-coverage.js';
import { MetricBuilder } from './rows/metric-builder.js';
import { TargetUsage } from './target-limits.js';
import type { Omissions } from './target-limits.js';
import { ExpositionText } from './text/exposition-text.js';
import { NODE_COST, TrackedTree } from './tracked-tree.js';
import type { ViewContext, ViewSettings } from './view-context.js';

/**
 * The budget of a call whose remaining work can wait. Adding, looking up or removing a line is one step, or more for a
 * long line.
 */
export const BIND_STEPS = 1024;
const FEW_NODES = 8;
/** Steps between two checks for lost values and for the end of the budget. */
const FEW_STEPS = 16;
/** The maximum number of queued changes. Further changes are applied before the caller continues. */
const MAX_PENDING = 1 << 18;

export class TargetView {
  readonly context: ViewContext;
  readonly builder: MetricBuilder;
  readonly #tree: TrackedTree;
  #isClosed = false;
  /** Whether the caller will call `bindMore` again, since work is left. */
  #isScheduled = true;
  #wake: (() => void) | undefined;
  /** Whether `copyingValues` or `rendering` has begun and has not ended. */
  #isBusy = false;

  constructor(settings: ViewSettings) {
    const { kernel, source, root } = settings;
    const cost = new Cost();
    const text = new ExpositionText(kernel, cost);
    const slotReader = new SlotReader(kernel, source, root);
    const { nodes } = slotReader;
    this.context = {
      counters: newCounters(),
      onOmitted: () => undefined,
      newBudget: () => new Budget({ steps: BIND_STEPS }),
      ...settings,
      ...{ cost, text, slotReader, nodes },
      pending: new PendingNodes(root),
      usage: new TargetUsage(text, nodes, settings.limits),
    };
    this.builder = new MetricBuilder(this.context);
    this.#tree = new TrackedTree(this.context, this.builder);
    if (root.asOf !== undefined) slotReader.address(root.asOf.slot);
  }

  /** Whether `closing` has begun, because the target has lost its root. */
  get isClosed(): boolean {
    return this.#isClosed;
  }
  get counters(): Counters {
    return this.context.counters;
  }
  /** The number of lines of the exposition text, one per series. */
  get series(): number {
    return this.context.text.lines;
  }
  /** How many series, objects and variables the text lacks now. */
  get missing(): Omissions {
    const { registry, frames } = this.builder;
    return {
      clashingSeries: registry.clashing,
      omittedSeries: registry.omitted + frames.omitted,
      omittedObjects: this.#tree.omittedObjects.amount,
      omittedVariables: this.#tree.omittedVariables.amount,
    };
  }
  /** The number of filter entries that have matched no object so far. */
  get filtersUnmatched(): number {
    return this.#tree.filterCoverage.unmatched;
  }
  /** How well the catalogue covers the nodes that are tracked now. */
  get coverage(): CatalogueCoverage {
    return this.builder.objects.coverage;
  }
  get hasObserved(): boolean {
    return !this.builder.observations.isEmpty;
  }
  /** The moment (Unix ns) of the copied values, if the root states one. */
  get asOfNs(): bigint | undefined {
    const { root, slotReader } = this.context;
    return root.asOf === undefined ? undefined : slotReader.bits(root.asOf);
  }
  /** The moment (Unix ns) that the root states now, which may be later than the moment of the copied values. */
  readAsOfNs(): bigint | undefined {
    const { root, slotReader } = this.context;
    return root.asOf === undefined ? undefined : slotReader.readBits(root.asOf);
  }

  /** The progress of the first sync; nodes not yet bound are not counted. */
  get progress(): SyncProgress {
    const reason = this.isBound
      ? this.#awaitedNode
      : 'the rest of its objects, which are being read';
    return { ...this.counts, reason };
  }

  /** The numbers of `progress`, without its reason. */
  get counts(): Omit<SyncProgress, 'reason'> {
    const { objects, variables } = this.context.nodes;
    return { objects: { ...objects }, variables: { ...variables } };
  }

  /** Names a node whose value is missing, preferably the root. Empty if no value is missing. */
  get #awaitedNode(): string {
    const { root, nodes } = this.context;
    const isRootMissing = this.builder.objects.has(root) && !nodes.isSynced(root);
    const node = isRootMissing ? root : nodes.awaited;
    if (node === undefined) return '';
    return isVariable(node)
      ? `variable ${node.name} of ${node.object.name}`
      : `object ${node.name}`;
  }

  /** Whether all nodes of the current tree are bound. */
  get isBound(): boolean {
    return this.context.pending.isEmpty;
  }

  /** Whether nodes are left to bind, or copied values are left to show. */
  get hasMore(): boolean {
    return !this.isBound || this.context.slotReader.hasUnreported;
  }

  get isSynced(): boolean {
    return !this.hasMore && this.context.nodes.areAllSynced;
  }

  /**
   * The current value of the highlighted variable, tracked or not. Returns the same object until the value changes.
   */
  get highlighted(): HighlightedValue | undefined {
    return this.#isClosed ? undefined : this.#tree.highlight?.read();
  }

  /** Binds the next part of the subtree; false once everything is bound and no change is queued. */
  bindMore(): boolean {
    if (this.#isClosed) return false;
    this.#requireIdle();
    const budget = this.context.newBudget();
    this.#bindWithin(budget);
    if (!this.hasMore && this.#hasManyNew) {
      this.#readNew();
      this.#bindWithin(budget);
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

  /** Applies additions and removals, or leaves a part of them to `bindMore`. Applying a change twice is harmless. */
  applyChanges(changes: readonly StructureChange[]): void {
    if (this.#isClosed) return;
    this.#requireIdle();
    const { pending, newBudget } = this.context;
    if (changes.length > 0) this.builder.isDirty = true;
    for (const change of changes) pending.add(change);
    this.#bindSlice();
    while (pending.size > MAX_PENDING) this.#bindWithin(newBudget());
  }

  /** Copies only the slots that are tracked since the last copy, which is enough to follow a growing tree. */
  copyNewValues(): void {
    if (this.#isClosed) return;
    this.#requireIdle();
    this.#readNew();
    this.#bindSlice();
  }

  /**
   * Adds the last copied values of observed variables to their distributions. Call it when the publisher notifies of
   * a change. Returns whether the text would differ from the last render.
   */
  observe(): boolean {
    this.#requireIdle();
    // A demand may have copied and shown a value before the notification arrived. Observing the value still changes
    // the text.
    if (this.builder.observations.observe()) this.builder.isDirty = true;
    return this.builder.isDirty;
  }

  /**
   * Applies all changes so far and copies the values, in small steps. Until the last step, no method may change the
   * view. Returns whether a render would produce a different text.
   */
  *copyingValues(): Generator<void, boolean> {
    return !this.#isClosed && (yield* this.#untilEnd(this.#copying()));
  }

  /**
   * Renders the values that were copied last, without removed nodes, in small steps; see
   * `ExpositionText.rendering`. Until the last step, no method may change the view.
   */
  *rendering(forms?: Iterable<LineForm>): Generator<void, Snapshot> {
    return yield* this.#untilEnd(this.#rendering(forms));
  }

  /** Frees everything, in small steps. The first step closes the view and removes its text. */
  *closing(): Generator<void, void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wake = undefined;
    const { pending, text, slotReader } = this.context;
    pending.clear();
    yield* text.closing();
    yield* this.builder.closing();
    slotReader.close();
  }

  *#copying(): Generator<void, boolean> {
    const { builder } = this;
    // Track added nodes first: nodes that are tracked only after the copy would be missing from the page.
    yield* this.#applyingChanges();
    builder.frames.refresh();
    if (yield* this.context.slotReader.reading(builder)) builder.isDirty = true;
    yield* this.#applyingChanges();
    this.#bindSlice();
    return builder.isDirty;
  }

  *#rendering(forms: Iterable<LineForm> | undefined): Generator<void, Snapshot> {
    while (this.#tree.removeNext()) yield;
    this.builder.isDirty = false;
    return yield* this.context.text.rendering(forms);
  }

  *#untilEnd<T>(steps: Generator<void, T>): Generator<void, T> {
    this.#requireIdle();
    this.#isBusy = true;
    try {
      return yield* steps;
    } finally {
      this.#isBusy = false;
    }
  }

  #requireIdle(): void {
    if (this.#isBusy) throw new Error('The view changed before a copy or render had ended');
  }

  #readNew(): void {
    if (this.context.slotReader.readNew()) this.builder.isDirty = true;
  }

  /** Whether there are too many new nodes to show all of them right after the next copy. */
  get #hasManyNew(): boolean {
    return this.context.slotReader.newNodes > FEW_NODES;
  }

  /** Processes queued changes: within one budget if the caller handles the rest later, otherwise all changes. */
  #bindSlice(): void {
    if (!this.#isScheduled && this.#wake === undefined) {
      this.#bindWithin(new Budget());
      return;
    }
    this.#bindWithin(this.context.newBudget());
    if (this.#isScheduled || !(this.hasMore || this.#hasManyNew)) return;
    this.#isScheduled = true;
    this.#wake?.();
  }

  /** Processes queued changes, within one budget per step, but not the rest of the initial tree. */
  *#applyingChanges(): Generator<void, void> {
    const { pending, slotReader, newBudget } = this.context;
    while (pending.size > 0 || slotReader.hasUnreported) {
      this.#bindWithin(newBudget());
      yield;
    }
  }

  /**
   * Works until the budget is spent. The first half is reserved for changes, so that neither changes nor the initial
   * tree starve.
   */
  #bindWithin(budget: Budget): void {
    while (!budget.isHalfSpent && this.#stepWithin(budget, false));
    while (!budget.isSpent && this.#stepWithin(budget, true));
  }

  /** Does one unit of work; returns false if no work is left. */
  #stepWithin(budget: Budget, bindsTree: boolean): boolean {
    const { cost } = this.context;
    const before = cost.steps;
    const isDone =
      this.#tree.removeNext() || (bindsTree && this.#bindNext(budget)) || this.#tree.addNext();
    budget.spend(cost.steps - before);
    return isDone;
  }

  /** Shows a few nodes that got their values, then binds a few nodes of the tree. */
  #bindNext(budget: Budget): boolean {
    const { pending, slotReader, cost } = this.context;
    const begin = cost.steps;
    const end = begin + Math.min(FEW_STEPS, budget.stepsLeft);
    // Removals first: the former node of a reused slot may be among them.
    while (cost.steps < end && !pending.removesAny && slotReader.reportSynced(this.builder))
      cost.steps += NODE_COST;
    while (cost.steps < end && !pending.removesAny) {
      const node = pending.nextExisting();
      if (node === undefined) break;
      this.#tree.add(node);
    }
    return cost.steps > begin;
  }
}
