// The state of one target: the nodes that it tracks below its root, their sync progress, and its text.
import type {
  LineForm,
  ManagedObject,
  Snapshot,
  Source,
  StructureChange,
  SyncProgress,
} from '../model.js';
import type { Filters } from '../catalogue/match/filters.js';
import { newCounters } from './counters.js';
import type { Counters } from './counters.js';
import { Cost } from '../budget.js';
import type { Omissions } from './omitted-items.js';
import type { HighlightedValue } from './read/highlight.js';
import { PendingNodes } from './read/tree-walk.js';
import type { CatalogueCoverage } from './rows/catalogue-coverage.js';
import { ExpositionText } from './text/exposition-text.js';
import { TrackedTree } from './tracked-tree.js';
import type { ViewParts } from './tracked-tree.js';
import { TreeBinder } from './tree-binder.js';

export class TargetView {
  readonly counters: Counters;
  readonly source: Source;
  readonly root: ManagedObject;
  readonly filters: Filters;
  readonly #text: ExpositionText;
  readonly tree: TrackedTree;
  readonly #binder: TreeBinder;
  /** Whether `closing` has begun, because the target has lost its root. */
  isClosed = false;

  constructor(parts: ViewParts) {
    const { kernel, source, root, filters, slice, counters = newCounters() } = parts;
    this.counters = counters;
    this.source = source;
    this.root = root;
    this.filters = filters;
    const cost = new Cost();
    this.#text = new ExpositionText(kernel, cost);
    const pending = new PendingNodes(root);
    const tree = new TrackedTree(parts, this.#text, cost, counters, (object) => {
      pending.remove(object);
    });
    this.tree = tree;
    this.#binder = new TreeBinder({ root, source, tree, pending, cost, slice });
  }

  /** The number of lines of the exposition text, one per series. */
  get series(): number {
    return this.#text.lines;
  }
  /** How many series, objects and variables the text lacks now. */
  get missing(): Omissions {
    return this.tree.missing;
  }
  /** The number of filter entries that have matched no object so far. */
  get filtersUnmatched(): number {
    return this.tree.filterCoverage.unmatched;
  }
  /** How well the catalogue covers the nodes that are tracked now. */
  get coverage(): CatalogueCoverage {
    return this.tree.builder.objects.coverage;
  }
  get hasObserved(): boolean {
    return !this.tree.builder.observations.isEmpty;
  }
  /** The moment (Unix ns) of the copied values, if the root states one. */
  get asOfNs(): bigint | undefined {
    const { asOf } = this.root;
    return asOf === undefined ? undefined : this.tree.slotReader.bits(asOf);
  }
  /** The moment (Unix ns) that the root states now, which may be later than the moment of the copied values. */
  readAsOfNs(): bigint | undefined {
    const { asOf } = this.root;
    return asOf === undefined ? undefined : this.tree.slotReader.readBits(asOf);
  }

  /** The progress of the first sync; nodes not yet bound are not counted. */
  get progress(): SyncProgress {
    const { objects, variables } = this.counts;
    if (!this.isBound)
      return { objects, variables, reason: 'the rest of its objects, which are being read' };
    const reason = this.tree.counts.areAllSynced ? '' : this.tree.unsyncedNode;
    return { objects, variables, reason };
  }

  /** The numbers of `progress`, without its reason. */
  get counts(): Omit<SyncProgress, 'reason'> {
    return this.tree.counts.now;
  }

  /** Whether all nodes of the current tree are bound. */
  get isBound(): boolean {
    return this.#binder.isBound;
  }

  /** Whether nodes are left to bind, or copied values are left to show. */
  get hasMore(): boolean {
    return this.#binder.hasMore;
  }

  get isSynced(): boolean {
    return !this.hasMore && this.tree.counts.areAllSynced;
  }

  /**
   * The current value of the highlighted variable, tracked or not. Returns the same object until the value changes.
   */
  get highlighted(): HighlightedValue | undefined {
    return this.isClosed ? undefined : this.tree.highlight?.read();
  }

  /** Binds the next part of the subtree; false once everything is bound and no change is queued. */
  bindMore(): boolean {
    return !this.isClosed && this.#binder.bindMore();
  }

  /**
   * Calls `wake` whenever `bindMore` must be called again, but not before the first call of `bindMore`. The returned
   * function removes the listener. Without a listener, changes are bound at once.
   */
  onMoreToBind(wake: () => void): () => void {
    return this.#binder.onMoreToBind(wake);
  }

  /** Applies additions and removals, or leaves a part of them to `bindMore`. Applying a change twice is harmless. */
  applyChanges(changes: readonly StructureChange[]): void {
    if (this.isClosed) return;
    if (changes.length > 0) this.tree.isDirty = true;
    this.#binder.queue(changes);
  }

  /**
   * Applies all changes so far and copies the values, in small steps. Until the last step, no other method may be
   * called. Returns whether a render would produce a different text.
   */
  *copyingValues(): Generator<void, boolean> {
    if (this.isClosed) return false;
    // Track added nodes first: nodes that are tracked only after the copy would be missing from the page.
    yield* this.#binder.applyingChanges();
    this.tree.builder.frames.refresh();
    if (yield* this.tree.slotReader.reading()) this.tree.isDirty = true;
    yield* this.#binder.applyingChanges();
    this.#binder.bindSlice();
    return this.tree.isDirty;
  }

  /** Copies only the slots that are tracked since the last copy, which is enough to follow a growing tree. */
  copyNewValues(): void {
    if (this.isClosed) return;
    this.tree.readNew();
    this.#binder.bindSlice();
  }

  /**
   * Adds the last copied values of observed variables to their distributions. Call it when the publisher notifies of
   * a change. Returns whether the text would differ from the last render.
   */
  observe(): boolean {
    // A demand may have copied and shown a value before the notification arrived. Observing the value still changes
    // the text.
    if (this.tree.builder.observations.observe()) this.tree.isDirty = true;
    return this.tree.isDirty;
  }

  /**
   * Renders the values that were copied last, without removed nodes, in small steps; see
   * `ExpositionText.rendering`. No other method may be called before the last step.
   */
  *rendering(forms?: Iterable<LineForm>): Generator<void, Snapshot> {
    while (this.#binder.removeNext()) yield;
    this.tree.isDirty = false;
    return yield* this.#text.rendering(forms);
  }

  /** Frees everything, in small steps. The first step closes the view and removes its text. */
  *closing(): Generator<void, void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#binder.close();
    yield* this.#text.closing();
    yield* this.tree.closing();
  }
}
