// Finds the rows that read the variables of bound objects, and the labels that these rows give to their series.
import { uncataloguedIn } from '../../catalogue/match/filters.js';
import type { Uncatalogued } from '../../catalogue/match/filters.js';
import { objectPath } from '../../catalogue/match/row-index.js';
import type { ClassRows, ObjectPath, RowIndex } from '../../catalogue/match/row-index.js';
import type { Row, RowInput } from '../../catalogue/row.js';
import { IndexedHeap, isNewer } from '../../collections/indexed-heap.js';
import { LargeMap } from '../../collections/large-map.js';
import type { ManagedObject, Variable } from '../../model.js';
import { isVariable } from '../read/tree-walk.js';
import type { TreeNode } from '../read/tree-walk.js';
import { labelsText } from '../text/text-syntax.js';
import type { ViewContext } from '../view-context.js';
import { CatalogueCoverage } from './catalogue-coverage.js';
import { DeclaredObject, DeclaredRows } from './declared-rows.js';
import { ObjectLabels, matchLabels, rowLabels, withDeclared } from './labels.js';

/** A row that reads a variable or shows a state, and what the row's series have in common. */
export interface BoundRow {
  readonly row: Row;
  /** Undefined for a row that shows a state. */
  readonly input: RowInput | undefined;
  readonly labels: ObjectLabels;
  /** The text of the labels that follow those in `labels`. */
  readonly own: string;
  /** The id of the node in the keys of the series. */
  readonly nodeId: number;
  readonly maxSeries: number;
}

interface BoundObject {
  /**
   * For each catalogue class that reads the object: its rows, and the text of the labels that the object's path
   * gives.
   */
  readonly rows: readonly { readonly classRows: ClassRows; readonly labels: ObjectLabels }[];
  /** The rows that read objects below this object. */
  readonly below: readonly ClassRows[];
  /** The labels of a class with `described = true`, whose objects show all variables. */
  readonly described: ObjectLabels | undefined;
  /** The rows of variables that no catalogue row reads; undefined if they are hidden or `described` is set. */
  readonly declared: DeclaredObject | undefined;
  /** The slot of the latest variable of each name. */
  readonly variables: Map<string, number>;
  /** Earlier variables, by their name, if a later variable of the object has the same name. */
  earlier: Map<string, IndexedHeap<Variable>> | undefined;
}

export class BoundObjects {
  /** Counts rows without variables and variables without rows. */
  readonly coverage: CatalogueCoverage;
  /** Undefined for an application without a catalogue. */
  readonly rowIndex: RowIndex | undefined;
  readonly #context: ViewContext;
  readonly #uncatalogued: Uncatalogued | undefined;
  readonly #declaredRows: DeclaredRows;
  /** By the object's id. */
  readonly #bound = new LargeMap<BoundObject>();

  constructor(context: ViewContext) {
    const { app, filters, catalogue, showUncatalogued, text } = context;
    this.#context = context;
    this.rowIndex = filters.rowIndex;
    this.coverage = new CatalogueCoverage(this.rowIndex?.rowsWithInput ?? 0);
    this.#uncatalogued = showUncatalogued ? uncataloguedIn(catalogue, filters) : undefined;
    const isShown = (name: string) => text.family(name) !== undefined;
    this.#declaredRows = new DeclaredRows(app, this.#uncatalogued?.taken, isShown);
  }

  has({ id }: ManagedObject): boolean {
    return this.#bound.has(id);
  }

  /** Finds the rows of an object. */
  bind(object: ManagedObject): void {
    const { root, usage } = this.#context;
    const path = objectPath(root, object);
    const found = this.rowIndex?.rowsFor(path) ?? [];
    const rows = found.map(({ classRows, labels }) => ({
      classRows,
      labels: new ObjectLabels(
        this.#context,
        labelsText(withDeclared(labels, object.labels, classRows.rows)),
      ),
    }));
    const described = rows.find(({ classRows }) => classRows.isDescribed)?.labels;
    const bound = {
      rows,
      described,
      declared: described === undefined ? this.#declaredObject(path, object) : undefined,
      below: this.rowIndex?.rowsBelow(path) ?? [],
      variables: new Map<string, number>(),
      earlier: undefined,
    };
    this.#bound.set(object.id, bound);
    usage.objects++;
    this.coverage.countObject(classRowsOf(bound), 1);
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
    this.coverage.countObject(classRowsOf(bound), -1);
    closeBound(bound);
    this.#bound.delete(object.id);
    this.#context.usage.objects--;
  }

  /** Undefined for an object that is not tracked. */
  boundOf({ id }: ManagedObject): BoundObject | undefined {
    return this.#bound.get(id);
  }

  /** The latest variable of this name in an object. */
  current(object: ManagedObject, name: string): Variable | undefined {
    return this.#variableAt(object, this.boundOf(object)?.variables.get(name));
  }

  /** Adds a variable. Only the latest variable of each name is shown. */
  add(variable: Variable): void {
    const bound = this.boundOf(variable.object);
    if (bound === undefined) return;
    const { name, object } = variable;
    const other = this.current(object, name);
    if (other?.id === variable.id) return;
    if (other !== undefined) {
      const isEarlier = variable.id < other.id;
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

  /** The rows of a node. A variable has none if a later variable of its object has the same name. */
  rowsOf(node: TreeNode): readonly BoundRow[] {
    const bound = this.boundOf(isVariable(node) ? node.object : node);
    if (bound === undefined) return NO_ROWS;
    const rows: BoundRow[] = [];
    if (!isVariable(node)) {
      for (const { classRows, labels } of bound.rows)
        for (const row of classRows.stateRows)
          rows.push(boundRow(row, undefined, node, labels, rowLabels(row)));
      return rows;
    }
    if (!this.#isCurrent(bound, node)) return NO_ROWS;
    for (const { classRows, labels } of bound.rows)
      for (const match of classRows.matchesOf(node.name))
        rows.push(boundRow(match.row, match.input, node, labels, matchLabels(match)));
    if (rows.length > 0) return rows;
    const { described } = bound;
    const declared =
      described === undefined
        ? bound.declared?.rowOf(node)
        : { row: this.#declaredRows.rowFor(node), labels: described, own: '' };
    if (declared === undefined) return NO_ROWS;
    const { row, labels, own } = declared;
    return [boundRow(row, row.inputs[0], node, labels, own)];
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
  }

  /** Whether a tracked variable is the latest of its name. */
  #isCurrent({ earlier }: BoundObject, variable: Variable): boolean {
    return (
      this.#context.nodes.isTracked(variable) && earlier?.get(variable.name)?.has(variable) !== true
    );
  }

  /** The variable of an object that is tracked at a slot. */
  #variableAt(object: ManagedObject, slot: number | undefined): Variable | undefined {
    const node = slot === undefined ? undefined : this.#context.nodes.node(slot);
    return node !== undefined && isVariable(node) && node.object === object ? node : undefined;
  }

  #setCurrent(bound: BoundObject, variable: Variable): void {
    bound.variables.set(variable.name, variable.slot);
    this.#count(bound, variable, 1);
  }

  #unsetCurrent(bound: BoundObject, variable: Variable): void {
    bound.variables.delete(variable.name);
    this.#count(bound, variable, -1);
  }

  /** Counts a variable in the coverage if rows read it, or if its class has rows and lacks `described = true`. */
  #count({ rows }: BoundObject, { name, type }: Variable, change: 1 | -1): void {
    let isRead = false;
    for (const { classRows } of rows)
      for (const { input } of classRows.matchesOf(name)) {
        this.coverage.countInput(input, type, change);
        isRead = true;
      }
    if (isRead || rows.length === 0 || rows.some(({ classRows }) => classRows.isDescribed)) return;
    this.coverage.variablesWithoutRow += change;
  }

  #declaredObject(path: ObjectPath, { labels }: ManagedObject): DeclaredObject | undefined {
    const all = this.#uncatalogued?.rowIndex;
    if (this.rowIndex !== undefined && all === undefined) return undefined;
    const found = all === undefined || all === this.rowIndex ? [] : all.rowsFor(path);
    const excluded = found.map(({ classRows }) => classRows);
    return new DeclaredObject(this.#declaredRows, this.#context, path.seedPath, labels, excluded);
  }
}

/** Whether the row's series come from several variables of one object. */
export const isShared = ({ inputs }: Row): boolean => inputs.length > 1;

function boundRow(
  row: Row,
  input: RowInput | undefined,
  node: TreeNode,
  labels: ObjectLabels,
  own: string,
): BoundRow {
  const variable = isVariable(node) ? node : undefined;
  const nodeId = variable !== undefined && isShared(row) ? variable.object.id : node.id;
  return { row, input, labels, own, nodeId, maxSeries: row.linesOf(variable) };
}

const NO_ROWS: readonly BoundRow[] = [];

/** The rows of the object and of objects below it. */
function classRowsOf({ rows, below }: Pick<BoundObject, 'rows' | 'below'>): readonly ClassRows[] {
  return [...rows.map(({ classRows }) => classRows), ...below];
}

function closeBound({ rows, declared }: BoundObject): void {
  for (const { labels } of rows) labels.close();
  declared?.close();
}
