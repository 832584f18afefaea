// Finds the rows that read the variables of bound objects, and the labels that these rows give to their series.
import type { PathLabels, Uncatalogued } from '../../catalogue/match/filters.js';
import { objectPath } from '../../catalogue/match/row-index.js';
import type { ClassRows, ObjectPath, RowMatch, RowIndex } from '../../catalogue/match/row-index.js';
import type { Row } from '../../catalogue/row.js';
import { IndexedHeap, isNewer } from '../../collections/indexed-heap.js';
import { LargeMap } from '../../collections/large-map.js';
import type { ManagedObject, Variable } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';
import type { SlotReader } from '../read/slot-reader.js';
import { isVariable } from '../read/tree-walk.js';
import { labelsText } from '../text/text-syntax.js';
import { CatalogueCoverage } from './catalogue-coverage.js';
import { ObjectLabels, RowLabels, withDeclared } from './labels.js';
import type { LabelText } from './labels.js';
import { DeclaredByClass, DeclaredObject, DeclaredRows } from './declared-rows.js';
import type { DeclaredParts, DeclaredVariables } from './declared-rows.js';
import type { SeriesRegistry } from './series-registry.js';

/** A row that shows the state of an object, with the text of its labels. */
export interface StateRow {
  readonly row: Row;
  readonly labels: LabelText;
}

interface BoundObject {
  /**
   * For each catalogue class that reads the object: its rows, and the text of the labels that the object's path
   * gives.
   */
  readonly rows: readonly { readonly classRows: ClassRows; readonly labels: ObjectLabels }[];
  /** The rows that read objects below this object. */
  readonly below: readonly ClassRows[];
  readonly states: readonly StateRow[];
  /** Rows for variables that no catalogue row reads; undefined if the target does not show such variables. */
  readonly declared: DeclaredVariables | undefined;
  /** The slot of the latest variable of each name. */
  readonly variables: Map<string, number>;
  /** Earlier variables, by their name, if a later variable of the object has the same name. */
  earlier: Map<string, IndexedHeap<Variable>> | undefined;
}

export interface BoundObjectsParts {
  readonly app: string;
  readonly root: ManagedObject;
  readonly kernel: Kernel;
  readonly slotReader: SlotReader;
  /** Undefined for an application without a catalogue. */
  readonly rowIndex: RowIndex | undefined;
  /** Set if variables without a catalogue row are shown as well. */
  readonly uncatalogued: Uncatalogued | undefined;
  readonly registry: Pick<SeriesRegistry, 'isShown'>;
  /** Labels that are added to series without a catalogue row. */
  readonly pathLabels: PathLabels;
}

const NO_STATE_ROWS: readonly StateRow[] = [];

export class BoundObjects {
  /** Counts rows without variables and variables without rows. */
  readonly coverage: CatalogueCoverage;
  /** Undefined for an application without a catalogue. */
  readonly rowIndex: RowIndex | undefined;
  readonly #root: ManagedObject;
  readonly #uncatalogued: Uncatalogued | undefined;
  readonly #declaredParts: DeclaredParts;
  /** By the object's id. */
  readonly #bound = new LargeMap<BoundObject>();
  /** The last lookup: the next lookup is usually for the same object. */
  #last: { readonly id: number; readonly bound: BoundObject } | undefined;
  readonly labels = new RowLabels();
  readonly #kernel: Kernel;
  readonly #slotReader: SlotReader;

  constructor(parts: BoundObjectsParts) {
    const { app, root, kernel, slotReader, rowIndex, uncatalogued, registry, pathLabels } = parts;
    this.#kernel = kernel;
    this.#slotReader = slotReader;
    this.#root = root;
    this.rowIndex = rowIndex;
    this.coverage = new CatalogueCoverage(rowIndex?.rowsWithInput ?? 0);
    this.#uncatalogued = uncatalogued;
    const isShown = (name: string) => registry.isShown(name);
    const rows = new DeclaredRows(app, uncatalogued?.taken, isShown);
    this.#declaredParts = { rows, kernel, pathLabels };
  }

  /** Finds the rows of an object; returns those that show its state. */
  bind(object: ManagedObject): readonly StateRow[] {
    const path = objectPath(this.#root, object);
    const found = this.rowIndex?.rowsFor(path) ?? [];
    const rows = found.map(({ classRows, labels }) => ({
      classRows,
      labels: new ObjectLabels(
        this.#kernel,
        labelsText(withDeclared(labels, object.labels, classRows.rows)),
      ),
    }));
    const states = rows.flatMap(({ classRows, labels }) =>
      classRows.stateRows.map((row) => ({ row, labels: labels.with(this.labels.ofRow(row)) })),
    );
    const own = rows.find(({ classRows }) => classRows.isDeclared)?.labels;
    const declared =
      own === undefined
        ? this.#declaredObject(path, object)
        : new DeclaredByClass(this.#declaredParts, own);
    const below = this.rowIndex?.rowsBelow(path) ?? [];
    const variables = new Map<string, number>();
    const bound = { rows, below, states, declared, variables, earlier: undefined };
    this.#last = undefined;
    this.#bound.set(object.id, bound);
    this.coverage.addObject(classRowsOf(bound));
    return states;
  }

  /** The latest variable of each name in an object. */
  variablesOf(object: ManagedObject): readonly Variable[] {
    const slots = this.boundOf(object)?.variables.values() ?? [];
    return [...slots].flatMap((slot) => this.#variableAt(object, slot) ?? []);
  }

  /** Removes an object. Its variables must have been removed before. */
  unbind(object: ManagedObject): void {
    const bound = this.boundOf(object);
    if (bound === undefined) return;
    this.coverage.removeObject(classRowsOf(bound));
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

  /** The latest variable of this name in an object. */
  current(object: ManagedObject, name: string): Variable | undefined {
    return this.#variableAt(object, this.boundOf(object)?.variables.get(name));
  }

  /**
   * Adds a variable. Only the latest variable of each name is shown.
   * @param onReplaced called with the variable that the new variable replaces, before the replacement
   */
  add(variable: Variable, onReplaced: (former: Variable) => void): void {
    const bound = this.boundOf(variable.object);
    if (bound === undefined) return;
    const { name, object } = variable;
    const slot = bound.variables.get(name);
    const other = this.#variableAt(object, slot);
    if (other?.id === variable.id) return;
    if (other !== undefined) {
      // A subtree is bound in slices, so the variable that was published later may be bound first.
      const isEarlier = variable.id < other.id;
      if (!isEarlier) onReplaced(other);
      const earlier = (bound.earlier ??= new Map<string, IndexedHeap<Variable>>());
      const namesakes = earlier.get(name) ?? new IndexedHeap<Variable>(isNewer);
      earlier.set(name, namesakes);
      namesakes.add(isEarlier ? variable : other);
      if (isEarlier) return;
      this.#unsetCurrent(bound, other);
    }
    this.#setCurrent(bound, variable);
  }

  /** Removes a variable. Returns the earlier variable of the same name that is shown instead, if any. */
  remove(variable: Variable): Variable | undefined {
    const bound = this.boundOf(variable.object);
    if (bound === undefined) return undefined;
    const { name } = variable;
    const namesakes = bound.earlier?.get(name);
    let next: Variable | undefined;
    if (this.#isCurrent(bound, variable)) {
      this.#unsetCurrent(bound, variable);
      next = namesakes?.first;
      if (next !== undefined) {
        namesakes?.delete(next);
        this.#setCurrent(bound, next);
      }
    } else namesakes?.delete(variable);
    if (namesakes?.size === 0) bound.earlier?.delete(name);
    return next;
  }

  /**
   * Calls back with each row that reads a variable, but not at all if a later variable of the object has the same name.
   * It allocates no list, since it runs for each of a million variables.
   */
  each(
    variable: Variable,
    callback: (row: Row, labels: LabelText, variable: Variable) => void,
  ): void {
    const bound = this.boundOf(variable.object);
    if (bound === undefined || !this.#isCurrent(bound, variable)) return;
    let isRead = false;
    for (const { classRows, labels } of bound.rows)
      for (const match of classRows.matchesOf(variable.name)) {
        isRead = true;
        callback(match.row, labels.with(this.labels.ofMatch(match)), variable);
      }
    if (isRead) return;
    const { declared } = bound;
    const row = declared?.rowOf(variable);
    if (declared !== undefined && row !== undefined)
      callback(row, declared.labelsOf(variable), variable);
  }

  /** Whether a row of the variable must be evaluated again when its value changes. */
  hasComputed(variable: Variable): boolean {
    const bound = this.boundOf(variable.object);
    if (bound === undefined || !this.#isCurrent(bound, variable)) return false;
    const matches = matchesOf(bound, variable);
    if (matches.length > 0) return matches.some(isComputed);
    return bound.declared?.rowOf(variable)?.isComputed === true;
  }

  /** Whether a later variable of the same object has the same name. */
  isHidden(variable: Variable): boolean {
    const bound = this.boundOf(variable.object);
    return bound !== undefined && !this.#isCurrent(bound, variable);
  }

  *closing(): Generator<void, void> {
    for (const bound of this.#bound.values()) {
      closeBound(bound);
      yield;
    }
    this.#bound.clear();
    this.#last = undefined;
  }

  /** Whether a tracked variable is the latest of its name. */
  #isCurrent({ earlier }: BoundObject, variable: Variable): boolean {
    return (
      this.#slotReader.isTracked(variable) && earlier?.get(variable.name)?.has(variable) !== true
    );
  }

  /** The variable of an object that is tracked at a slot. */
  #variableAt(object: ManagedObject, slot: number | undefined): Variable | undefined {
    const node = slot === undefined ? undefined : this.#slotReader.trackedAt(slot);
    return node !== undefined && isVariable(node) && node.object === object ? node : undefined;
  }

  #setCurrent(bound: BoundObject, variable: Variable): void {
    bound.variables.set(variable.name, variable.slot);
    const matches = matchesOf(bound, variable);
    if (isCounted(bound, matches)) this.coverage.addVariable(variable, matches);
  }

  #unsetCurrent(bound: BoundObject, variable: Variable): void {
    bound.variables.delete(variable.name);
    const matches = matchesOf(bound, variable);
    if (isCounted(bound, matches)) this.coverage.removeVariable(variable, matches);
  }

  #declaredObject(path: ObjectPath, { labels }: ManagedObject): DeclaredObject | undefined {
    const all = this.#uncatalogued?.rowIndex;
    if (this.rowIndex !== undefined && all === undefined) return undefined;
    const found = all === undefined || all === this.rowIndex ? [] : all.rowsFor(path);
    const sources = { excluded: found.map(({ classRows }) => classRows), declared: labels };
    return new DeclaredObject(this.#declaredParts, path.seedPath, sources);
  }
}

const isComputed = ({ row }: RowMatch): boolean => row.isComputed;

/** Whether coverage counts a variable: rows read it, or its class has rows and lacks `described = true`. */
const isCounted = ({ rows }: BoundObject, matches: readonly RowMatch[]): boolean =>
  matches.length > 0 || (rows.length > 0 && !rows.some(({ classRows }) => classRows.isDeclared));

const NO_MATCHES: readonly RowMatch[] = [];

/** The rows of the object and of objects below it. */
function classRowsOf({ rows, below }: Pick<BoundObject, 'rows' | 'below'>): readonly ClassRows[] {
  return [...rows.map(({ classRows }) => classRows), ...below];
}

/** The catalogue rows that read a variable of the object. */
function matchesOf({ rows }: BoundObject, { name }: Variable): readonly RowMatch[] {
  const [first] = rows;
  if (first === undefined) return NO_MATCHES;
  // Usually only one class reads an object. Then avoid an allocation for each variable.
  return rows.length === 1
    ? first.classRows.matchesOf(name)
    : rows.flatMap(({ classRows }) => classRows.matchesOf(name));
}

function closeBound({ rows, declared }: BoundObject): void {
  for (const { labels } of rows) labels.close();
  declared?.close();
}
