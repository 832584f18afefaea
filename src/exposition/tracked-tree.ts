// The objects and variables that a target tracks below its root, with their values and lines.
import type { Budget, Cost } from '../budget.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import { FilterCoverage, uncataloguedIn } from '../catalogue/match/filters.js';
import type { Filters, PathLabels } from '../catalogue/match/filters.js';
import { objectPath } from '../catalogue/match/row-index.js';
import { LargeMap } from '../collections/large-map.js';
import type { ManagedObject, Source, Variable } from '../model.js';
import type { Counters } from './counters.js';
import { Highlight } from './read/highlight.js';
import { SlotReader } from './read/slot-reader.js';
import type { SlotListener } from './read/slot-reader.js';
import type { TreeNode } from './read/tree-walk.js';
import { SyncCounts } from './read/sync-counts.js';
import { isVariable } from './read/tree-walk.js';
import { MetricBuilder } from './rows/metric-builder.js';
import { SeriesRegistry } from './rows/series-registry.js';
import type { OnClash } from './rows/series-registry.js';
import type { Omissions } from './omitted-items.js';
import { NodeLimiter, TargetUsage } from './target-limits.js';
import type { OnOmitted, TargetLimits } from './target-limits.js';
import type { ExpositionText } from './text/exposition-text.js';
import type { Kernel } from './wasm/kernel.js';

export interface ViewParts {
  readonly app: string;
  readonly kernel: Kernel;
  readonly source: Source;
  readonly root: ManagedObject;
  readonly catalogue: Catalogue | undefined;
  readonly filters: Filters;
  /** Whether variables that no row of the catalogue reads are shown as well. */
  readonly showUncatalogued: boolean;
  /** Labels that are added to series without a catalogue row. */
  readonly pathLabels: PathLabels;
  /** Path of a variable to highlight; empty for none. */
  readonly variable: string;
  /** The time zone of times written as text: an IANA name, or '' for the zone of the process. */
  readonly timeZone: string;
  /** Called with each series that clashes with another series or metric, and the reason. */
  readonly onClash: OnClash;
  /** The counters that the view adds to; by default, new counters. */
  readonly counters?: Counters;
  /** The limits of the target; by default `DEFAULT_LIMITS`. */
  readonly limits?: TargetLimits;
  readonly onOmitted?: OnOmitted;
  /** Returns the budget of one call whose remaining work can wait; by default, `STEPS_PER_SLICE` steps. */
  readonly slice?: () => Budget;
}

/**
 * The costs, in steps of the budget, of an object to track, whose rows must be looked up, and of a variable to track.
 * Lines cost extra.
 */
const OBJECT_COST = 4;
const VARIABLE_COST = 1;

export class TrackedTree implements SlotListener {
  readonly slotReader: SlotReader;
  readonly builder: MetricBuilder;
  readonly registry: SeriesRegistry;
  readonly #parts: ViewParts;
  readonly #onReplaced: (object: ManagedObject) => void;
  /** The tracked objects, by id. */
  readonly #objects = new LargeMap<ManagedObject>();
  readonly counts = new SyncCounts();
  readonly usage: TargetUsage;
  readonly #limiter: NodeLimiter;
  readonly filterCoverage: FilterCoverage;
  readonly highlight: Highlight | undefined;
  readonly #cost: Cost;
  /** Whether the text differs from the last render. */
  isDirty = true;

  /**
   * @param text receives the lines
   * @param cost counts the work of tracked nodes and their lines
   * @param onReplaced called with an object whose slot now belongs to another object. It must queue the removal of the
   *   former object and everything below it
   */
  constructor(
    parts: ViewParts,
    text: ExpositionText,
    cost: Cost,
    counters: Counters,
    onReplaced: (object: ManagedObject) => void,
  ) {
    this.#cost = cost;
    const { app, kernel, source, root, catalogue, filters, variable, pathLabels, timeZone } = parts;
    this.#parts = parts;
    this.#onReplaced = onReplaced;
    this.slotReader = new SlotReader(kernel, source, this);
    const size = sizeOf(this.#objects, this.counts, text, () => this.builder.frames.bytes);
    const usage = new TargetUsage(size, parts.limits);
    this.usage = usage;
    const { onClash, onOmitted } = parts;
    this.registry = new SeriesRegistry({
      ...{ text, catalogue, cost, counters, onClash, usage, onOmitted },
    });
    this.builder = new MetricBuilder({
      ...{ app, root, kernel, source, pathLabels, timeZone },
      ...{
        cost,
        counters,
        slotReader: this.slotReader,
        registry: this.registry,
        rowIndex: filters.rowIndex,
      },
      ...{ usage, onOmitted },
      uncatalogued: parts.showUncatalogued ? uncataloguedIn(catalogue, filters) : undefined,
    });
    this.highlight = variable === '' ? undefined : new Highlight(source, root, variable);
    this.filterCoverage = new FilterCoverage(filters);
    this.#limiter = new NodeLimiter(usage, counters, onOmitted);
    if (root.asOf !== undefined) this.slotReader.address(root.asOf.slot);
  }

  /** How many series, objects and variables the text lacks now. */
  get missing(): Omissions {
    return {
      clashingSeries: this.registry.clashing,
      omittedSeries: this.registry.omitted + this.builder.frames.omitted,
      omittedObjects: this.#limiter.omittedObjects,
      omittedVariables: this.#limiter.omittedVariables,
    };
  }

  /** Names a node whose value is missing, preferably the root. Empty if no value is missing. */
  get unsyncedNode(): string {
    const { root } = this.#parts;
    const isRootMissing = this.#objects.has(root.id) && !this.slotReader.isSynced(root);
    const node = isRootMissing ? root : this.slotReader.awaited;
    if (node === undefined) return '';
    return isVariable(node)
      ? `variable ${node.name} of ${node.object.name}`
      : `object ${node.name}`;
  }

  hasObject({ id }: ManagedObject): boolean {
    return this.#objects.has(id);
  }

  /** Tracks a node of the tree, if the filters include it and no limit is reached. */
  add(node: TreeNode): void {
    this.#cost.steps += isVariable(node) ? VARIABLE_COST : OBJECT_COST;
    if (isVariable(node)) this.#addVariable(node);
    else this.#addObject(node);
  }

  /** The variables of a removed object that still have rows, because their own removal has not arrived yet. */
  variablesOf(object: ManagedObject): readonly Variable[] {
    return this.builder.variablesOf(object);
  }

  /** Removes a node. Everything below it must have been removed before. */
  remove(node: TreeNode): void {
    if (isVariable(node)) this.#removeVariable(node);
    else this.#removeObject(node);
  }

  /** Copies only the slots that were added after the last copy. */
  readNew(): void {
    if (this.slotReader.readNew()) this.isDirty = true;
  }

  synced(node: TreeNode): void {
    this.isDirty = true;
    this.counts.of(node).synced++;
    if (isVariable(node)) this.builder.variableSynced(node);
    else this.builder.objectSynced(node);
  }

  unsynced(node: TreeNode): void {
    this.isDirty = true;
    this.counts.of(node).synced--;
    if (isVariable(node)) this.builder.variableUnsynced(node);
    else this.builder.objectUnsynced(node);
  }

  /**
   * Stops waiting for the value of a node whose slot another node uses now: the node was removed, but its publisher
   * could not record the removal yet. The node stays tracked, without a value, until its removal arrives.
   */
  replaced(node: TreeNode): void {
    // Keep waiting for the root even if it was removed: without its root, a target has nothing to show.
    if (node !== this.#parts.root) this.counts.of(node).total--;
  }

  changed(node: TreeNode): void {
    if (isVariable(node)) this.builder.variableChanged(node);
    else this.builder.objectChanged(node);
  }

  /** Frees everything except the text, in small steps. */
  *closing(): Generator<void, void> {
    yield* this.builder.closing();
    this.slotReader.close();
    this.#objects.clear();
  }

  #addObject(object: ManagedObject): void {
    this.highlight?.named.addObject(object);
    const { root, filters } = this.#parts;
    if (this.#objects.has(object.id)) return;
    const placed = objectPath(root, object);
    if (!filters.tracks(placed)) return;
    this.filterCoverage.addObject(placed);
    if (!this.#untrackFormer(object)) return;
    if (!this.#limiter.admitsObject(object)) return;
    this.#objects.set(object.id, object);
    this.counts.of(object).total++;
    const isSynced = this.slotReader.track(object);
    this.builder.addObject(object);
    if (isSynced) this.synced(object);
  }

  #addVariable(variable: Variable): void {
    this.highlight?.named.addVariable(variable);
    if (!this.#objects.has(variable.object.id)) return;
    const usedBy = this.slotReader.idAt(variable.slot);
    if (usedBy === variable.id || (usedBy !== 0 && !this.#untrackFormer(variable))) return;
    if (!this.#limiter.admitsVariable(variable)) return;
    this.counts.of(variable).total++;
    const isSynced = this.slotReader.track(variable);
    this.builder.addVariable(variable);
    if (isSynced) this.synced(variable);
  }

  #removeObject(object: ManagedObject): void {
    this.highlight?.named.removeObject(object);
    this.#limiter.objectGone(object);
    if (!this.#objects.delete(object.id)) return;
    this.#discount(object);
    this.builder.removeObject(object);
    this.slotReader.untrack(object);
  }

  #removeVariable(variable: Variable): void {
    this.highlight?.named.removeVariable(variable);
    this.#limiter.variableGone(variable);
    if (!this.slotReader.isTracked(variable)) {
      // The object may still list the variable under its name.
      if (this.#objects.has(variable.object.id)) this.builder.removeVariable(variable);
      return;
    }
    this.#discount(variable);
    this.builder.removeVariable(variable);
    this.slotReader.untrack(variable);
  }

  /**
   * Untracks the former node in the slot of a new node, since the removal of the former node may arrive later. Returns
   * false if the slot belongs to an even newer node: the given node has then been removed already.
   */
  #untrackFormer({ id, slot }: TreeNode): boolean {
    const former = this.slotReader.trackedAt(slot);
    if (former === undefined) return true;
    if (former.id > id) return false;
    if (isVariable(former)) this.#removeVariable(former);
    else this.#evict(former);
    return true;
  }

  /** Hides the lines of an object, and queues its removal with everything below it. */
  #evict(object: ManagedObject): void {
    if (this.slotReader.isSynced(object)) this.unsynced(object);
    if (this.slotReader.isReportedReplaced(object)) this.counts.of(object).total++;
    this.slotReader.untrack(object);
    this.#onReplaced(object);
  }

  /** Subtracts a node from the counts. Call it before the node is untracked. */
  #discount(node: TreeNode): void {
    this.isDirty = true;
    if (!this.slotReader.isReportedReplaced(node)) this.counts.of(node).total--;
    if (this.slotReader.isSynced(node)) this.counts.of(node).synced--;
  }
}

/**
 * The current size of a target. Each getter computes one number on demand, since limits are checked for each series.
 */
const sizeOf = (
  objects: LargeMap<ManagedObject>,
  counts: SyncCounts,
  text: ExpositionText,
  frameBytes: () => number,
): TargetLimits => ({
  get objects() {
    return objects.size;
  },
  get variables() {
    return counts.variables.total;
  },
  get series() {
    return text.lines;
  },
  get textBytes() {
    return text.textBytes + frameBytes();
  },
});
