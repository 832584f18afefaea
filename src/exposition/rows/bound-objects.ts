// Finds the rows that read the variables of bound objects, and their labels.
import type { PathLabels, Uncatalogued } from '../../catalogue/match/filters.js';
import { objectPath } from '../../catalogue/match/rules.js';
import type { ObjectPath, RowMatch, Rules } from '../../catalogue/match/rules.js';
import type { Row } from '../../catalogue/row.js';
import { IndexedHeap, isNewer } from '../../collections/indexed-heap.js';
import { LargeMap } from '../../collections/large-map.js';
import type { ManagedObject, Variable } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';
import type { SlotReader } from '../read/slot-reader.js';
import { isVariable } from '../read/tree-walk.js';
import { labelsText } from '../text/text-syntax.js';
import { closeBound, setsOf, matchesOf } from './bound-object.js';
import type { BoundObject, StateRow } from './bound-object.js';
import { CatalogueCoverage } from './catalogue-coverage.js';
import { ObjectLabels, withStated } from './labels.js';
import type { LabelText, RowLabels } from './labels.js';
import { DescribedByClass, DescribedObject, SelfDescribed } from './self-described.js';
import type { Describing } from './self-described.js';
import type { SeriesRegistry } from './series-registry.js';

export interface BoundObjectsParts {
  readonly app: string;
  readonly root: ManagedObject;
  readonly kernel: Kernel;
  readonly slotReader: SlotReader;
  /** Undefined for an application without a catalogue. */
  readonly rules: Rules | undefined;
  /** Set if variables without a row of the catalogue are shown as well. */
  readonly uncatalogued: Uncatalogued | undefined;
  readonly labels: RowLabels;
  readonly registry: Pick<SeriesRegistry, 'isShown'>;
  /** Further labels of series without a row. */
  readonly pathLabels: PathLabels;
}

const NO_STATE_ROWS: readonly StateRow[] = [];

export class BoundObjects {
  /** How well the rules fit the bound objects and their variables. */
  readonly coverage: CatalogueCoverage;
  readonly #root: ManagedObject;
  readonly #rules: Rules | undefined;
  readonly #uncatalogued: Uncatalogued | undefined;
  readonly #describing: Describing;
  /** By the object's id. */
  readonly #bound = new LargeMap<BoundObject>();
  /** The last lookup: the next one is mostly for the same object. */
  #last: { readonly id: number; readonly bound: BoundObject } | undefined;
  readonly #labels: RowLabels;
  readonly #kernel: Kernel;
  readonly #slotReader: SlotReader;

  constructor(parts: BoundObjectsParts) {
    const { app, root, kernel, slotReader, rules, uncatalogued, labels, registry, pathLabels } =
      parts;
    this.#kernel = kernel;
    this.#slotReader = slotReader;
    this.#root = root;
    this.#labels = labels;
    this.#rules = rules;
    this.coverage = new CatalogueCoverage(rules?.readingRows ?? 0);
    this.#uncatalogued = uncatalogued;
    const isShown = (name: string) => registry.isShown(name);
    const rows = new SelfDescribed(app, uncatalogued?.taken, isShown);
    this.#describing = { rows, kernel, pathLabels };
  }

  /** Finds the rows of an object; returns those that show its state. */
  bind(object: ManagedObject): readonly StateRow[] {
    const path = objectPath(this.#root, object);
    const found = this.#rules?.rulesFor(path) ?? [];
    const rules = found.map(({ set, labels }) => ({
      set,
      labels: new ObjectLabels(
        this.#kernel,
        labelsText(withStated(labels, object.labels, set.rows)),
      ),
    }));
    const states = rules.flatMap(({ set, labels }) =>
      set.stateRows.map((row) => ({ row, labels: labels.with(this.#labels.ofRow(row)) })),
    );
    const own = rules.find(({ set }) => set.isDescribed)?.labels;
    const described =
      own === undefined
        ? this.#described(path, object)
        : new DescribedByClass(this.#describing, own);
    const below = this.#rules?.rulesBelow(path) ?? [];
    const variables = new Map<string, number>();
    this.#last = undefined;
    this.#bound.set(object.id, { rules, below, states, described, variables, earlier: undefined });
    this.coverage.addObject(setsOf({ rules, below }));
    return states;
  }

  /** The variables of an object that own their names. */
  variablesOf(object: ManagedObject): readonly Variable[] {
    const slots = this.boundOf(object)?.variables.values() ?? [];
    return [...slots].flatMap((slot) => this.#variableAt(object, slot) ?? []);
  }

  /** Removes an object after its variables. */
  unbind(object: ManagedObject): void {
    const bound = this.boundOf(object);
    if (bound === undefined) return;
    this.coverage.removeObject(setsOf(bound));
    closeBound(bound);
    this.#bound.delete(object.id);
    this.#last = undefined;
  }

  /** Undefined for an object that is not tracked. */
  boundOf({ id }: ManagedObject): BoundObject | undefined {
    if (this.#last?.id === id) return this.#last.bound;
    const bound = this.#bound.get(id);
    if (bound !== undefined) this.#last = { id, bound };
    return bound;
  }

  /** The rows that show the state of an object. */
  statesOf(object: ManagedObject): readonly StateRow[] {
    return this.boundOf(object)?.states ?? NO_STATE_ROWS;
  }

  /** The variable of a name; of several, the latest. */
  current(object: ManagedObject, name: string): Variable | undefined {
    return this.#variableAt(object, this.boundOf(object)?.variables.get(name));
  }

  /**
   * Adds a variable; of several with one name the latest wins.
   * @param hide called with the one that it replaces, while that still owns the name
   */
  add(variable: Variable, hide: (former: Variable) => void): void {
    const bound = this.boundOf(variable.object);
    if (bound === undefined) return;
    const { name, object } = variable;
    const slot = bound.variables.get(name);
    const other = this.#variableAt(object, slot);
    if (other?.id === variable.id) return;
    if (other !== undefined) {
      // A subtree is bound in slices, so the later one may be bound first.
      const isEarlier = variable.id < other.id;
      if (!isEarlier) hide(other);
      const earlier = (bound.earlier ??= new Map<string, IndexedHeap<Variable>>());
      const namesakes = earlier.get(name) ?? new IndexedHeap<Variable>(isNewer);
      earlier.set(name, namesakes);
      namesakes.add(isEarlier ? variable : other);
      if (isEarlier) return;
      this.#leave(bound, other);
    }
    this.#enter(bound, variable);
  }

  /** Removes a variable; returns the earlier one that owns its name from now on. */
  remove(variable: Variable): Variable | undefined {
    const bound = this.boundOf(variable.object);
    if (bound === undefined) return undefined;
    const { name } = variable;
    const namesakes = bound.earlier?.get(name);
    let next: Variable | undefined;
    if (this.#owns(bound, variable)) {
      this.#leave(bound, variable);
      next = namesakes?.first;
      if (next !== undefined) {
        namesakes?.delete(next);
        this.#enter(bound, next);
      }
    } else namesakes?.delete(variable);
    if (namesakes?.size === 0) bound.earlier?.delete(name);
    return next;
  }

  /**
   * Calls back with each row that reads a variable; with none if a later variable owns its name. It allocates no
   * list, since it runs for each of a million variables.
   */
  each(
    variable: Variable,
    callback: (row: Row, labels: LabelText, variable: Variable) => void,
  ): void {
    const bound = this.boundOf(variable.object);
    if (bound === undefined || !this.#owns(bound, variable)) return;
    let isRead = false;
    for (const { set, labels } of bound.rules)
      for (const use of set.matchesOf(variable.name)) {
        isRead = true;
        callback(use.row, labels.with(this.#labels.ofMatch(use)), variable);
      }
    if (isRead) return;
    const { described } = bound;
    const row = described?.rowOf(variable);
    if (described !== undefined && row !== undefined)
      callback(row, described.labelsOf(variable), variable);
  }

  /** Whether a row of the variable must be evaluated again when its value changes. */
  hasComputed(variable: Variable): boolean {
    const bound = this.boundOf(variable.object);
    if (bound === undefined || !this.#owns(bound, variable)) return false;
    const matches = matchesOf(bound, variable);
    if (matches.length > 0) return matches.some(isComputed);
    return bound.described?.rowOf(variable)?.isComputed === true;
  }

  /** Whether a later variable of its object has its name. */
  isHidden(variable: Variable): boolean {
    const bound = this.boundOf(variable.object);
    return bound !== undefined && !this.#owns(bound, variable);
  }

  *closing(): Generator<void, void> {
    for (const bound of this.#bound.values()) {
      closeBound(bound);
      yield;
    }
    this.#bound.clear();
    this.#last = undefined;
  }

  /** Whether no later variable of the object has its name. */
  #owns({ earlier }: BoundObject, variable: Variable): boolean {
    return (
      this.#slotReader.isTracked(variable) && earlier?.get(variable.name)?.has(variable) !== true
    );
  }

  /** The variable of an object that is tracked at a slot. */
  #variableAt(object: ManagedObject, slot: number | undefined): Variable | undefined {
    const item = slot === undefined ? undefined : this.#slotReader.trackedAt(slot);
    return item !== undefined && isVariable(item) && item.object === object ? item : undefined;
  }

  /** This variable owns its name from now on. */
  #enter(bound: BoundObject, variable: Variable): void {
    bound.variables.set(variable.name, variable.slot);
    const matches = matchesOf(bound, variable);
    if (isCounted(bound, matches)) this.coverage.addVariable(variable, matches);
  }

  #leave(bound: BoundObject, variable: Variable): void {
    bound.variables.delete(variable.name);
    const matches = matchesOf(bound, variable);
    if (isCounted(bound, matches)) this.coverage.removeVariable(variable, matches);
  }

  #described(path: ObjectPath, { labels }: ManagedObject): DescribedObject | undefined {
    const all = this.#uncatalogued?.rules;
    if (this.#rules !== undefined && all === undefined) return undefined;
    const found = all === undefined || all === this.#rules ? [] : all.rulesFor(path);
    const leftOut = found.map(({ set }) => set);
    return new DescribedObject(this.#describing, path.seedPath, { leftOut, stated: labels });
  }
}

const isComputed = ({ row }: RowMatch): boolean => row.isComputed;

/** Whether a variable counts for the fit of the catalogue: rows read it, or rows of its class could. */
const isCounted = ({ rules }: BoundObject, matches: readonly RowMatch[]): boolean =>
  matches.length > 0 || (rules.length > 0 && !rules.some(({ set }) => set.isDescribed));
