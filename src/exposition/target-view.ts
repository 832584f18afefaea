// The state of one target: the nodes that it tracks below its root, their sync progress, and its text.
import { Budget } from '../budget.js';
import type { BudgetLimits } from '../budget.js';
import { wallClockMs } from '../clock.js';
import type {
  FamilyMetadata,
  FamilySize,
  Refresh,
  Snapshot,
  StructureChange,
  SyncProgress,
} from '../model.js';
import { newCounters } from './counters.js';
import type { Counters } from './counters.js';
import type { HighlightedValue } from './read/highlight.js';
import { SlotCopies } from './read/node-values.js';
import { SlotReader } from './read/slot-reader.js';
import { StartTimes } from './read/start-times.js';
import { PendingNodes, nodeText } from './read/tree-walk.js';
import type { CatalogueCoverage } from './rows/catalogue-coverage.js';
import { TargetLabels } from './rows/labels.js';
import { MetricBuilder } from './rows/metric-builder.js';
import { TargetUsage } from './target-limits.js';
import type { Omissions } from './target-limits.js';
import { ExpositionText } from './text/exposition-text.js';
import { TrackedTree } from './tracked-tree.js';
import type { ViewContext, ViewSettings } from './view-context.js';

/**
 * The steps of a call whose remaining work can wait. Visiting a node is one step; so is adding, looking up or removing
 * a line, or more for a long line.
 */
export const BIND_STEPS = 1024;
const BIND_LIMITS: BudgetLimits = { steps: BIND_STEPS };
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
  /** Whether the next step is for an added node rather than for the initial tree. */
  #isForAdded = false;

  constructor(settings: ViewSettings) {
    const { kernel, source, root, unixMs = wallClockMs } = settings;
    const budget = new Budget();
    const text = new ExpositionText(kernel, budget);
    const slotReader = new SlotReader(kernel, source, root);
    const { nodes } = slotReader;
    this.context = {
      counters: newCounters(),
      targetLabels: new TargetLabels(),
      onOmitted: () => undefined,
      bindLimits: () => BIND_LIMITS,
      ...settings,
      ...{ budget, text, slotReader, nodes },
      starts: new StartTimes(source, unixMs),
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
  /** The families of the text with the most lines. */
  get largestFamilies(): readonly FamilySize[] {
    return this.context.text.largestFamilies;
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
    const { root, source } = this.context;
    return root.asOf === undefined ? undefined : new SlotCopies(source).bits(root.asOf);
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
    return node === undefined ? '' : nodeText(node);
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

  /**
   * Works on the tree until the budget of one call is spent: removes nodes from the text, shows nodes that got a value,
   * and tracks nodes. Then copies the values of the new nodes, and shows them within the rest of the budget. Returns
   * false once nothing is left to do.
   */
  bindMore(): boolean {
    const { slotReader } = this.context;
    this.#bind();
    if (slotReader.hasNew) {
      if (slotReader.readNew()) this.builder.isDirty = true;
      while (!this.context.budget.isSpent && this.#bindNext());
    }
    this.#isScheduled = this.hasMore;
    if (this.#isScheduled) this.#wake?.();
    return this.#isScheduled;
  }

  /**
   * Calls `wake` whenever `bindMore` must be called again, but not before the first call of `bindMore`. The returned
   * function removes the listener.
   */
  onMoreToBind(wake: () => void): () => void {
    this.#wake = wake;
    return () => {
      if (this.#wake === wake) this.#wake = undefined;
    };
  }

  /** Applies additions and removals, or leaves a part of them to `bindMore`. Applying a change twice is harmless. */
  applyChanges(changes: readonly StructureChange[]): void {
    const { pending } = this.context;
    if (changes.length > 0) this.builder.isDirty = true;
    for (const change of changes) pending.add(change);
    do this.#bind();
    while (pending.size > MAX_PENDING);
    this.#schedule();
  }

  /**
   * Adds the last copied values of observed variables to their distributions. Call it when the publisher notifies of
   * a change. Returns whether the text would differ from the last render.
   */
  observe(): boolean {
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
    const { builder } = this;
    yield* this.context.source.computingValues?.() ?? [];
    // Track added nodes first: nodes that are tracked only after the copy would be missing from the page.
    yield* this.#applyingChanges();
    builder.frames.refresh();
    if (yield* this.context.slotReader.reading(builder)) builder.isDirty = true;
    yield* this.#applyingChanges();
    this.#schedule();
    return builder.isDirty;
  }

  /** See `ExpositionText.demand`. */
  demand({ forms }: Refresh): void {
    this.context.text.demand(forms);
  }

  get lacksForm(): boolean {
    return this.context.text.lacksForm;
  }

  /**
   * Renders the values that were copied last, without removed nodes, in small steps; see
   * `ExpositionText.rendering`. Until the last step, no method may change the view.
   */
  *rendering(): Generator<void, Snapshot> {
    while (this.#tree.removeNext()) yield;
    this.builder.isDirty = false;
    const { text, starts } = this.context;
    // A view is rendered only after the first full sync.
    starts.endFirstTree();
    return yield* text.rendering(undefined, (family, nodeId) => this.#startOf(family, nodeId));
  }

  /** The start of a line; undefined if it is unknown, or if the type of its family has none. */
  #startOf({ type }: FamilyMetadata, nodeId: number): number | undefined {
    // The exporter's observations began later than the publisher's values.
    const isObserved = type !== 'counter' && this.builder.observations.has(nodeId);
    return isObserved ? undefined : this.context.starts.of(nodeId);
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

  /** Asks for a call of `bindMore` if there is work for it. */
  #schedule(): void {
    if (this.#isScheduled || !(this.hasMore || this.context.slotReader.hasNew)) return;
    this.#isScheduled = true;
    this.#wake?.();
  }

  /** Processes queued changes, within one budget per step, but not the rest of the initial tree. */
  *#applyingChanges(): Generator<void, void> {
    const { pending, slotReader } = this.context;
    while (pending.size > 0 || slotReader.hasUnreported) {
      this.#bind();
      yield;
    }
  }

  #bind(): void {
    const { budget, bindLimits } = this.context;
    budget.restart(bindLimits());
    while (!budget.isSpent && this.#bindNext());
  }

  /**
   * Works on one node; returns false if no work is left. Removals come first: the former node of a reused slot may be
   * among them. Added nodes and the initial tree take turns, so that neither starves.
   */
  #bindNext(): boolean {
    const tree = this.#tree;
    if (tree.removeNext()) return true;
    this.#isForAdded = !this.#isForAdded;
    if (this.#isForAdded && tree.addNext()) return true;
    return tree.showNext() || tree.addExisting() || tree.addNext();
  }
}
