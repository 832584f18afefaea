// The live state of one target: what it tracks below its root, how far it is synced, and its text.
import { Budget } from '../budget.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import { FilterFit } from '../catalogue/match/filter-fit.js';
import type { Filters } from '../catalogue/match/filters.js';
import type { PathLabels } from '../catalogue/match/path-labels.js';
import { uncataloguedIn } from '../catalogue/match/uncatalogued.js';
import { placeUnder } from '../catalogue/match/placed-object.js';
import { WideMap } from '../collections/wide-map.js';
import type {
  Forms,
  ManagedObject,
  Snapshot,
  Source,
  StructureChange,
  SyncProgress,
  TreeAnswer,
  TreeQuestion,
  Variable,
} from '../model.js';
import { Membership } from './look/membership.js';
import { TreeLook } from './look/tree-look.js';
import { ExpositionText } from './text/exposition-text.js';
import { Highlight } from './read/highlight.js';
import type { HighlightedValue } from './read/highlight.js';
import type { Kernel } from './kernel/kernel.js';
import type { CatalogueFit } from './rows/catalogue-fit.js';
import { MetricBuilder } from './rows/metric-builder.js';
import type { ObservedContent } from './rows/observed.js';
import { PendingItems, isVariable } from './read/pending-items.js';
import { Probe } from './read/probe.js';
import type { ProbeListener } from './read/probe.js';
import type { Tracked } from './read/tracked-slots.js';
import { SyncCounts } from './read/sync-counts.js';
import { SeriesRegister } from './rows/series-register.js';
import { ItemGate, TargetRoom, memoryOf } from './target-limits.js';
import type { OnOmitted, TargetLimits, TargetSize } from './target-limits.js';

export interface ViewParts {
  readonly app: string;
  readonly kernel: Kernel;
  readonly source: Source;
  readonly root: ManagedObject;
  readonly catalogue: Catalogue | undefined;
  readonly filters: Filters;
  /** Whether variables that no row of the catalogue reads are shown as well. */
  readonly showsUncatalogued: boolean;
  /** Further labels of series without a row. */
  readonly pathLabels: PathLabels;
  /** Path of a variable to highlight; empty for none. */
  readonly variable: string;
  /** The time zone of times written as text: an IANA name, or '' for that of the process. */
  readonly timeZone: string;
  /** Called with each series that was left out because another has its name and labels. */
  readonly onClash: (series: string) => void;
  /** What it may have; by default `DEFAULT_LIMITS`. */
  readonly limits?: TargetLimits;
  readonly onOmitted?: OnOmitted;
  /** The most work of one call if the rest can wait; by default `VIEW_STEPS`. */
  readonly slice?: () => Budget;
}

/**
 * Work of one slice. A line that is put, looked up or removed is a step, or more if it is long.
 */
export const VIEW_STEPS = 1024;
/** The work of tracking an object, whose rows must be found, and of any other item, without lines. */
const OBJECT_EFFORT = 4;
const ITEM_EFFORT = 1;
const FEW_ITEMS = 8;
/** Work after which it is looked whether an item lost its value, or time is over. */
const FEW_STEPS = 16;
/** The most queued changes: a caller that adds more must wait for them. */
const MAX_PENDING = 1 << 18;

export class TargetView implements ProbeListener {
  readonly #parts: ViewParts;
  readonly #probe: Probe;
  readonly #text: ExpositionText;
  readonly #register: SeriesRegister;
  readonly #builder: MetricBuilder;
  readonly #filterFit: FilterFit;
  readonly #size: TargetSize;
  readonly #room: TargetRoom;
  readonly #gate: ItemGate;
  readonly #highlight: Highlight | undefined;
  /** Tracked objects, by id. */
  readonly #tracked = new WideMap<ManagedObject>();
  readonly #pending: PendingItems;
  /** Work done so far, without that for lines. */
  #steps = 0;
  /** True while a call of `bindMore` is to come, since not everything is bound. */
  #isDriven = true;
  #wake: (() => void) | undefined;
  readonly #counts = new SyncCounts();
  #isDirty = true;
  #isClosed = false;
  /** Do a piece of work, if there is any: made once, since a million items are a million calls. */
  readonly #change = (): boolean => this.#letGo() || this.#takeIn();
  readonly #anything = (budget: Budget): boolean =>
    this.#letGo() || this.#goOn(budget) || this.#takeIn();

  constructor(parts: ViewParts) {
    const { app, kernel, source, root, catalogue, filters, variable, pathLabels, timeZone } = parts;
    this.#parts = parts;
    this.#probe = new Probe(kernel, source, this);
    this.#text = new ExpositionText(kernel);
    this.#size = sizeOf(this.#tracked, this.#counts, this.#text);
    this.#room = new TargetRoom(this.#size, parts.limits);
    this.#register = new SeriesRegister(this.#text, parts.onClash, this.#room, parts.onOmitted);
    this.#builder = new MetricBuilder({
      app,
      root,
      kernel,
      source,
      probe: this.#probe,
      register: this.#register,
      catalogue,
      rules: filters.rules,
      uncatalogued: parts.showsUncatalogued ? uncataloguedIn(catalogue, filters) : undefined,
      pathLabels,
      timeZone,
    });
    this.#highlight = variable === '' ? undefined : new Highlight(source, root, variable);
    this.#filterFit = new FilterFit(filters);
    this.#gate = new ItemGate(this.#room, parts.onOmitted);
    this.#pending = new PendingItems(root);
    if (root.asOf !== undefined) this.#probe.address(root.asOf.slot);
  }

  get root(): ManagedObject {
    return this.#parts.root;
  }
  /** Lines of the exposition text, one per series. */
  get series(): number {
    return this.#text.lines;
  }
  get clashes(): number {
    return this.#register.clashes;
  }
  get omitted(): number {
    return this.#register.omitted + this.#builder.omitted;
  }
  get omittedObjects(): number {
    return this.#gate.omittedObjects;
  }
  get omittedVariables(): number {
    return this.#gate.omittedVariables;
  }
  /** Bytes of memory that the target takes, estimated. */
  get memoryBytes(): number {
    return memoryOf(this.#size);
  }
  /** Entries of the filters that have matched no object so far. */
  get filtersUnmatched(): number {
    return this.#filterFit.unmatched;
  }
  get staleFrames(): number {
    return this.#builder.staleFrames;
  }
  /** How well the catalogue fits what is tracked; changes as objects and variables come and go. */
  get fit(): CatalogueFit {
    return this.#builder.fit;
  }
  get bytesRead(): number {
    return this.#probe.bytesRead;
  }
  get hasObserved(): boolean {
    return !this.#builder.observations.isEmpty;
  }
  /** The moment (Unix ns) of the root's values, if the root has one. */
  get asOfNs(): bigint | undefined {
    const { asOf } = this.root;
    return asOf === undefined ? undefined : this.#probe.bits(asOf);
  }

  /** The progress of the first sync; items not yet bound are not counted. */
  get progress(): SyncProgress {
    const { objects, variables } = this.counts;
    if (!this.#isBound)
      return { objects, variables, reason: 'the rest of its objects, which are being read' };
    return { objects, variables, reason: this.#counts.areAllSynced ? '' : this.#firstUnsynced() };
  }

  /** The numbers of `progress`, without searching for what is missing. */
  get counts(): Omit<SyncProgress, 'reason'> {
    return this.#counts.now;
  }

  /** Whether something is left to bind, or to show of what was copied. */
  get hasMore(): boolean {
    return !this.#isBound || this.#probe.hasUnreported;
  }

  get isSynced(): boolean {
    return !this.hasMore && this.#counts.areAllSynced;
  }

  /** The highlighted variable as it is now, tracked or not; the same object while unchanged. */
  get highlighted(): HighlightedValue | undefined {
    return this.#isClosed ? undefined : this.#highlight?.read();
  }

  /** Binds the next part of the subtree; false once everything is bound and no change is queued. */
  bindMore(): boolean {
    if (this.#isClosed) return false;
    const slice = this.#slice();
    this.#workOn(slice);
    // New items are shown in slices, too, unless they are few enough for the next copy.
    if (!this.hasMore && this.#probe.unread > FEW_ITEMS) {
      if (this.#probe.readFresh()) this.#isDirty = true;
      this.#workOn(slice);
    }
    this.#isDriven = this.hasMore;
    if (this.#isDriven) this.#wake?.();
    return this.#isDriven;
  }

  /**
   * Calls back whenever `bindMore` is to be called again, after the first time; returns a function that
   * ends this. Without a listener, no work is left for later.
   */
  whenMore(wake: () => void): () => void {
    this.#wake = wake;
    return () => {
      if (this.#wake === wake) this.#wake = undefined;
    };
  }

  /**
   * Applies additions and removals, or leaves the rest to `bindMore`. Repeated changes are
   * harmless.
   */
  absorb(changes: readonly StructureChange[]): void {
    if (this.#isClosed) return;
    if (changes.length > 0) this.#isDirty = true;
    for (const change of changes) this.#pending.take(change);
    this.#catchUp();
    while (this.#pending.size > MAX_PENDING) this.#workOn(this.#slice());
  }

  /**
   * Takes in all changes so far and copies the values, in small steps; true if a render would produce
   * a different text. Nothing else may be done with the view before the last.
   */
  *refreshing(): Generator<void, boolean> {
    if (this.#isClosed) return false;
    // What is tracked only after the copy would be missing from the page.
    yield* this.#takingIn();
    this.#builder.refresh();
    if (yield* this.#probe.reading()) this.#isDirty = true;
    yield* this.#takingIn();
    this.#catchUp();
    return this.#isDirty;
  }

  /** Copies only slots tracked since the last copy: enough to follow a growing tree. */
  refreshFresh(): void {
    if (this.#isClosed) return;
    if (this.#probe.readFresh()) this.#isDirty = true;
    this.#catchUp();
  }

  /**
   * Counts the last copied values of observed variables; call it at a change notification. True if
   * the text would differ from the last render.
   */
  observe(): boolean {
    // A demand may have copied and shown a value before its notification arrived.
    if (this.#builder.observations.observe()) this.#isDirty = true;
    return this.#isDirty;
  }

  /** A look at the tree, in small steps: it changes nothing, and goes on while the view changes. */
  looking(question: TreeQuestion): Generator<void, TreeAnswer> {
    const { root, source, filters } = this.#parts;
    const membership = new Membership({
      ...{ root, filters, room: this.#room, tracked: this.#tracked, probe: this.#probe },
      isBound: () => this.#isBound,
    });
    const look = new TreeLook(
      {
        ...{ root, source, membership, fates: this.#builder.fates },
        tracked: () => {
          const { objects, variables } = this.counts;
          return { objects: objects.total, variables: variables.total };
        },
        isClosed: () => this.#isClosed,
      },
      question,
    );
    return look.steps();
  }

  /** The generation of the source that this view shows. */
  get generation(): string {
    return this.#parts.source.generation;
  }

  /** The observations so far, for a successor. */
  get observations(): readonly ObservedContent[] {
    return this.#builder.observations.content;
  }

  /** Continues the observations of a predecessor; false if they are of another generation. */
  adopt({
    generation,
    observed,
  }: {
    readonly generation: string;
    readonly observed: readonly ObservedContent[];
  }): boolean {
    if (generation !== this.generation) return false;
    // Text rendered before the takeover has no observations yet.
    if (observed.length > 0) this.#isDirty = true;
    this.#builder.observations.adopt(observed);
    return true;
  }

  /**
   * Renders the values that were copied last, without removed items, in small steps; see
   * `ExpositionText.rendering`. Nothing else may be done with the view before the last.
   */
  *rendering(forms?: Forms): Generator<void, Snapshot> {
    while (this.#letGo()) yield;
    this.#isDirty = false;
    return yield* this.#text.rendering(forms);
  }

  /** Frees everything, in small steps. The view is closed from the first on, and the text gone. */
  *closing(): Generator<void, void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wake = undefined;
    this.#pending.clear();
    yield* this.#text.closing();
    yield* this.#builder.closing();
    this.#probe.close();
    this.#tracked.clear();
  }

  synced(item: Tracked): void {
    this.#isDirty = true;
    this.#counts.got(item);
    if (isVariable(item)) this.#builder.variableSynced(item);
    else this.#builder.objectSynced(item);
  }

  unsynced(item: Tracked): void {
    this.#isDirty = true;
    this.#counts.lost(item);
    if (isVariable(item)) this.#builder.variableUnsynced(item);
    else this.#builder.objectUnsynced(item);
  }

  /**
   * Stops waiting for an item that was removed, though its publisher could not record the removal.
   * It stays tracked without a value, until its removal arrives after all.
   */
  gone(item: Tracked): void {
    // A removed root is waited for: without it there is nothing to show.
    if (item !== this.root) this.#counts.forget(item);
  }

  changed(item: Tracked): void {
    if (isVariable(item)) this.#builder.variableChanged(item);
    else this.#builder.objectChanged(item);
  }

  get #isBound(): boolean {
    return this.#pending.isEmpty;
  }

  #slice(): Budget {
    return this.#parts.slice?.() ?? new Budget({ steps: VIEW_STEPS });
  }

  /** Work done so far. */
  get #effort(): number {
    return this.#steps + this.#register.effort + this.#builder.effort;
  }

  /** Does the queued work, slice by slice, without the rest of the tree that existed from the start. */
  *#takingIn(): Generator<void, void> {
    while (this.#pending.size > 0 || this.#probe.hasUnreported) {
      this.#workOn(this.#slice());
      yield;
    }
  }

  /** Does the queued work: one slice if a caller handles the rest, else all of it. */
  #catchUp(): void {
    if (!this.#isDriven && this.#wake === undefined) {
      this.#workOn(new Budget());
      return;
    }
    this.#workOn(this.#slice());
    if (this.#isDriven || !this.hasMore) return;
    this.#isDriven = true;
    this.#wake?.();
  }

  /** Works until the budget is spent: half of it is for changes, so that neither they nor the tree wait. */
  #workOn(budget: Budget): void {
    while (!budget.isHalfSpent && this.#spending(budget, this.#change));
    while (!budget.isSpent && this.#spending(budget, this.#anything));
  }

  #spending(budget: Budget, work: (budget: Budget) => boolean): boolean {
    const before = this.#effort;
    const isDone = work(budget);
    budget.spend(this.#effort - before);
    return isDone;
  }

  /**
   * Takes the next item that was removed or lost its value out of the text; false if there is none.
   */
  #letGo(): boolean {
    const item = this.#pending.nextRemoved();
    if (item === undefined) return this.#counted(this.#probe.reportUnsynced());
    this.#steps += ITEM_EFFORT;
    if (isVariable(item)) this.#removeVariable(item);
    else this.#removeObject(item);
    return true;
  }

  /** Tracks the next added item, if it still exists. */
  #takeIn(): boolean {
    const item = this.#pending.nextAdded();
    if (item === undefined) return false;
    this.#steps += ITEM_EFFORT;
    if (isVariable(item) ? item.object.variables.has(item) : this.#isThere(item)) this.#add(item);
    return true;
  }

  /** Shows the next items that got their values, then binds the next items of the tree: a few of both. */
  #goOn(budget: Budget): boolean {
    const begin = this.#effort;
    const end = begin + Math.min(FEW_STEPS, budget.stepsLeft);
    while (this.#mayGoOn(end) && this.#counted(this.#probe.reportSynced()));
    while (this.#mayGoOn(end)) {
      const item = this.#pending.nextBound();
      if (item === undefined) break;
      this.#add(item);
    }
    return this.#effort > begin;
  }

  /** A slot that has another owner now is one of the things that are to be removed first. */
  #mayGoOn(end: number): boolean {
    return this.#effort < end && !this.#pending.removesAny;
  }

  #counted(isDone: boolean): boolean {
    if (isDone) this.#steps += ITEM_EFFORT;
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

  #add(item: Tracked): void {
    this.#steps += isVariable(item) ? ITEM_EFFORT : OBJECT_EFFORT;
    if (isVariable(item)) this.#addVariable(item);
    else this.#addObject(item);
  }

  #addObject(object: ManagedObject): void {
    this.#highlight?.addObject(object);
    const { root, filters } = this.#parts;
    if (this.#tracked.has(object.id)) return;
    const placed = placeUnder(root, object);
    if (!filters.tracks(placed)) return;
    this.#filterFit.take(placed);
    if (!this.#vacate(object)) return;
    if (!this.#gate.admitsObject(object)) return;
    this.#tracked.set(object.id, object);
    this.#counts.await(object);
    this.#probe.track(object);
    this.#builder.addObject(object);
  }

  #addVariable(variable: Variable): void {
    this.#highlight?.addVariable(variable);
    if (!this.#tracked.has(variable.object.id) || this.#probe.isTracked(variable)) return;
    if (!this.#vacate(variable)) return;
    if (!this.#gate.admitsVariable(variable)) return;
    this.#counts.await(variable);
    this.#probe.track(variable);
    this.#builder.addVariable(variable);
  }

  #removeObject(object: ManagedObject): void {
    this.#highlight?.removeObject(object);
    if (!this.#tracked.delete(object.id)) return;
    this.#isDirty = true;
    this.#uncount(object);
    if (this.#probe.isSynced(object)) this.#counts.lost(object);
    this.#builder.removeObject(object);
    this.#probe.untrack(object);
  }

  #removeVariable(variable: Variable): void {
    this.#highlight?.removeVariable(variable);
    if (!this.#probe.isTracked(variable)) {
      // It may still own its name, as the last variable of that name in its object.
      if (this.#tracked.has(variable.object.id)) this.#builder.removeVariable(variable);
      return;
    }
    this.#isDirty = true;
    this.#uncount(variable);
    if (this.#probe.isSynced(variable)) this.#counts.lost(variable);
    this.#builder.removeVariable(variable);
    this.#probe.untrack(variable);
  }

  /**
   * Untracks the previous owner of the item's slot, in case its removal arrives later. False if a
   * later item owns the slot: then this one is gone already.
   */
  #vacate({ id, slot }: Tracked): boolean {
    const former = this.#probe.trackedAt(slot);
    if (former === undefined) return true;
    if (former.id > id) return false;
    if (isVariable(former)) this.#removeVariable(former);
    else this.#evict(former);
    return true;
  }

  /** Hides an object's own lines now, and queues its removal with everything below it. */
  #evict(object: ManagedObject): void {
    if (this.#probe.isSynced(object)) this.unsynced(object);
    if (this.#probe.isForgotten(object)) this.#counts.await(object);
    this.#probe.untrack(object);
    this.#pending.remove(object);
  }

  #isAwaited(item: Tracked): boolean {
    return !this.#probe.isSynced(item) && (item === this.root || !this.#probe.isForgotten(item));
  }

  /** Takes an item out of the numbers, unless that is done already. */
  #uncount(item: Tracked): void {
    if (!this.#probe.isForgotten(item)) this.#counts.forget(item);
  }

  #firstUnsynced(): string {
    for (const object of this.#tracked.values()) {
      if (this.#isAwaited(object)) return `object ${object.name}`;
      for (const variable of object.variables)
        if (this.#probe.isTracked(variable) && this.#isAwaited(variable))
          return `variable ${variable.name} of ${object.name}`;
    }
    return '';
  }
}

/** What a target has whenever it is looked at: limits are asked for each series. */
const sizeOf = (
  tracked: WideMap<ManagedObject>,
  counts: SyncCounts,
  text: ExpositionText,
): TargetSize => ({
  get objects() {
    return tracked.size;
  },
  get variables() {
    return counts.variables;
  },
  get series() {
    return text.lines;
  },
  get textBytes() {
    return text.textBytes;
  },
});
