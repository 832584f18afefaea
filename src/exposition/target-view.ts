// One target at work: what it tracks below its root, how far it is synced, and its text.
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Filters } from '../catalogue/match/filters.js';
import { placeUnder } from '../catalogue/match/placed-object.js';
import type {
  ManagedObject,
  Snapshot,
  Source,
  StructureChange,
  SyncProgress,
  Variable,
} from '../model.js';
import { ExpositionText } from './text/exposition-text.js';
import { Highlight } from './read/highlight.js';
import type { HighlightedValue } from './read/highlight.js';
import type { Kernel } from './kernel/kernel.js';
import type { CatalogueFit } from './rows/catalogue-fit.js';
import { MetricBuilder } from './rows/metric-builder.js';
import type { ObservedContent } from './rows/observed.js';
import { Probe } from './read/probe.js';
import type { ProbeListener, Tracked } from './read/probe.js';
import { SeriesRegister } from './rows/series-register.js';

export interface ViewParts {
  readonly app: string;
  readonly kernel: Kernel;
  readonly source: Source;
  readonly root: ManagedObject;
  readonly catalogue: Catalogue | undefined;
  readonly filters: Filters;
  /** Path of a variable to highlight; empty for none. */
  readonly variable: string;
  /** Of the texts of points in time: an IANA name, or '' for the process's own. */
  readonly timeZone: string;
  /** Hears of each series that was left out because another has its name and labels. */
  readonly onClash: (series: string) => void;
}

/** Objects and variables that are bound at once: a few milliseconds of work. */
const ITEMS_AT_ONCE = 1024;

export class TargetView implements ProbeListener {
  readonly #parts: ViewParts;
  readonly #probe: Probe;
  readonly #text: ExpositionText;
  readonly #register: SeriesRegister;
  readonly #builder: MetricBuilder;
  readonly #highlight: Highlight | undefined;
  /** Tracked objects, in the order in which they were found. */
  readonly #tracked = new Set<ManagedObject>();
  #unbound: ManagedObject[];
  /** What is left of the variables of the object that was bound last. */
  #variablesToBind: Iterator<Variable> | undefined;
  #objects = { synced: 0, total: 0 };
  #variables = { synced: 0, total: 0 };
  #isDirty = true;
  #isClosed = false;

  constructor(parts: ViewParts) {
    const { app, kernel, source, root, catalogue, filters, variable, timeZone, onClash } = parts;
    this.#parts = parts;
    this.#probe = new Probe(kernel, source, this);
    this.#text = new ExpositionText(kernel);
    this.#register = new SeriesRegister(this.#text, onClash);
    this.#builder = new MetricBuilder({
      app,
      root,
      kernel,
      source,
      probe: this.#probe,
      register: this.#register,
      catalogue,
      rules: filters.rules,
      timeZone,
    });
    this.#highlight = variable === '' ? undefined : new Highlight(source, root, variable);
    this.#unbound = [root];
    if (root.asOf !== undefined) this.#probe.address(root.asOf.slot);
  }

  get root(): ManagedObject {
    return this.#parts.root;
  }
  /** Lines of the exposition text, each a series. */
  get series(): number {
    return this.#text.lines;
  }
  get clashes(): number {
    return this.#register.clashes;
  }
  get omitted(): number {
    return this.#register.omitted;
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
  /** The moment (Unix ns) that the root's values stand for, where it states one. */
  get asOfNs(): bigint | undefined {
    const { asOf } = this.root;
    return asOf === undefined ? undefined : this.#probe.bits(asOf);
  }

  /** How far the first sync has come; what is not bound yet is not counted yet. */
  get progress(): SyncProgress {
    const { objects, variables } = this.counts;
    const reason = !this.#isBound
      ? 'the subtree to be bound'
      : objects.synced < objects.total
        ? this.#firstUnsynced()
        : variables.synced < variables.total
          ? this.#firstUnsynced()
          : '';
    return { objects, variables, reason };
  }

  /** The numbers of `progress`, without looking for what is missing. */
  get counts(): Omit<SyncProgress, 'reason'> {
    return { objects: { ...this.#objects }, variables: { ...this.#variables } };
  }

  get isSynced(): boolean {
    return (
      this.#isBound &&
      this.#objects.synced === this.#objects.total &&
      this.#variables.synced === this.#variables.total
    );
  }

  /** The highlighted variable as it is now, tracked or not; the same object while it is the same. */
  get highlighted(): HighlightedValue | undefined {
    return this.#isClosed ? undefined : this.#highlight?.read();
  }

  /** Binds the next part of the subtree; false when all is bound. */
  bindMore(): boolean {
    const isLookedFor = this.#highlight?.bindMore() ?? false;
    return this.#bindSlice() || isLookedFor;
  }

  #bindSlice(): boolean {
    let budget = ITEMS_AT_ONCE;
    while (budget-- > 0) {
      const next = this.#variablesToBind?.next();
      if (next !== undefined && next.done !== true) {
        this.#addVariable(next.value);
        continue;
      }
      this.#variablesToBind = undefined;
      const object = this.#unbound.pop();
      if (object === undefined) return false;
      // One by one: a call with as many arguments as an object may have children would fail.
      for (const child of object.children) this.#unbound.push(child);
      this.#addObject(object);
      this.#variablesToBind = object.variables.values();
    }
    return !this.#isBound;
  }

  /** Takes in what came and went. Repeated changes do no harm. */
  absorb(changes: readonly StructureChange[]): void {
    if (this.#isClosed) return;
    this.#highlight?.absorb(changes);
    for (const change of changes) {
      this.#isDirty = true;
      if (change.kind === 'object-added') this.#takeIn(change.object);
      else if (change.kind === 'variable-added') {
        if (this.#tracked.has(change.variable.object)) this.#addVariable(change.variable);
      } else if (change.kind === 'object-removed') this.#removeObject(change.object);
      else this.#removeVariable(change.variable);
    }
  }

  /** Copies the values; true when the text would differ from the last render. */
  refresh(): boolean {
    if (this.#isClosed) return false;
    if (this.#probe.read()) this.#isDirty = true;
    return this.#isDirty;
  }

  /** Copies only what was tracked since the last copy: enough to follow a tree that is growing. */
  refreshFresh(): void {
    if (!this.#isClosed && this.#probe.readFresh()) this.#isDirty = true;
  }

  /**
   * Counts the values of observed variables that were copied last; call it at a change notification.
   * True when the text would differ from the last render.
   */
  observe(): boolean {
    // A demand may have copied and shown a value before its notification came.
    if (this.#builder.observations.observe()) this.#isDirty = true;
    return this.#isDirty;
  }

  /** Which generation of the source this is a view of. */
  get generation(): string {
    return this.#parts.source.generation;
  }

  /** What was observed so far, for a successor. */
  get observations(): readonly ObservedContent[] {
    return this.#builder.observations.content;
  }

  /** Goes on with the observations of a predecessor; false when they are of another generation. */
  adopt({
    generation,
    observed,
  }: {
    readonly generation: string;
    readonly observed: readonly ObservedContent[];
  }): boolean {
    if (generation !== this.generation) return false;
    // What was rendered before it took over has no observations yet.
    if (observed.length > 0) this.#isDirty = true;
    this.#builder.observations.adopt(observed);
    return true;
  }

  /** Makes the text of the values that were copied last. */
  render(): Snapshot {
    this.#isDirty = false;
    return this.#text.render();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#builder.close();
    this.#text.close();
    this.#probe.close();
    this.#tracked.clear();
    this.#unbound = [];
    this.#variablesToBind = undefined;
  }

  synced(item: Tracked): void {
    if (isVariable(item)) {
      this.#variables.synced++;
      this.#builder.variableSynced(item);
    } else {
      this.#objects.synced++;
      this.#builder.objectSynced(item);
    }
  }

  unsynced(item: Tracked): void {
    if (isVariable(item)) {
      this.#variables.synced--;
      this.#builder.variableUnsynced(item);
    } else {
      this.#objects.synced--;
      this.#builder.objectUnsynced(item);
    }
  }

  changed(item: Tracked): void {
    if (isVariable(item)) this.#builder.variableChanged(item);
    else this.#builder.objectChanged(item);
  }

  get #isBound(): boolean {
    return this.#unbound.length === 0 && this.#variablesToBind === undefined;
  }

  #takeIn(object: ManagedObject): void {
    // An ancestor that waits to be bound brings it along.
    if (!isBelow(object, this.root) || this.#unbound.some((top) => isBelow(object, top))) return;
    this.#addObject(object);
  }

  #addObject(object: ManagedObject): void {
    const { root, filters } = this.#parts;
    if (this.#tracked.has(object) || !filters.tracks(placeUnder(root, object))) return;
    this.#vacate(object);
    this.#tracked.add(object);
    this.#objects.total++;
    this.#probe.track(object);
    this.#builder.addObject(object);
  }

  #addVariable(variable: Variable): void {
    if (!this.#tracked.has(variable.object) || this.#probe.isTracked(variable)) return;
    this.#vacate(variable);
    this.#variables.total++;
    this.#probe.track(variable);
    this.#builder.addVariable(variable);
  }

  /** Removes an object with what is below it, tracked or not. */
  #removeObject(object: ManagedObject): void {
    for (const child of object.children) this.#removeObject(child);
    for (const variable of object.variables) this.#removeVariable(variable);
    this.#unbound = this.#unbound.filter((waiting) => waiting !== object);
    if (!this.#tracked.delete(object)) return;
    this.#objects.total--;
    if (this.#probe.isSynced(object)) this.#objects.synced--;
    this.#builder.removeObject(object);
    this.#probe.untrack(object);
  }

  #removeVariable(variable: Variable): void {
    if (!this.#probe.isTracked(variable)) return;
    this.#variables.total--;
    if (this.#probe.isSynced(variable)) this.#variables.synced--;
    this.#builder.removeVariable(variable);
    this.#probe.untrack(variable);
  }

  /** Removes what had the item's slot before, should its own removal come later. */
  #vacate({ slot }: Tracked): void {
    const former = this.#probe.trackedAt(slot);
    if (former === undefined) return;
    if (isVariable(former)) this.#removeVariable(former);
    else this.#removeObject(former);
  }

  #firstUnsynced(): string {
    for (const object of this.#tracked) {
      if (!this.#probe.isSynced(object)) return `object ${object.name}`;
      for (const variable of object.variables)
        if (this.#probe.isTracked(variable) && !this.#probe.isSynced(variable))
          return `variable ${variable.name} of ${object.name}`;
    }
    return '';
  }
}

const isVariable = (item: Tracked): item is Variable => 'object' in item;

function isBelow(object: ManagedObject, top: ManagedObject): boolean {
  for (let at: ManagedObject | undefined = object; at !== undefined; at = at.parent)
    if (at === top) return true;
  return false;
}
