// Explains a node: why it is not tracked, which metrics show it, or why no metric does.
import { objectPath } from '../../catalogue/match/row-index.js';
import { MAX_LINES_A_ROW } from '../../catalogue/row.js';
import type { RowInput, Row } from '../../catalogue/row.js';
import type { ManagedObject, TreeMetric, ValueType, Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import { isVariable } from '../read/tree-walk.js';
import type { TreeNode } from '../read/tree-walk.js';
import type { BoundObjects } from '../rows/bound-objects.js';
import type { SeriesRegistry } from '../rows/series-registry.js';
import { limitText } from '../target-limits.js';
import type { TargetView } from '../target-view.js';
import type { TrackedTree } from '../tracked-tree.js';

/** A row that reads a variable or shows a state. */
export interface MatchingRow {
  readonly row: Row;
  /** Undefined for a row that shows a state. */
  readonly input: RowInput | undefined;
  /** The text of the labels that all series of the row have. */
  readonly labels: () => string;
}

/** Says why a view does not track a node, and lists the metrics of a tracked node or says why it has none. */
export class NodeExplainer {
  readonly #view: TargetView;
  readonly #tree: TrackedTree;
  readonly #objects: BoundObjects;

  constructor(view: TargetView) {
    this.#view = view;
    this.#tree = view.tree;
    this.#objects = view.tree.builder.objects;
  }

  /** Why an object is not tracked; empty if it is. */
  whyNotObject(object: ManagedObject): string {
    const { root, tree, filters } = this.#view;
    if (tree.hasObject(object)) return '';
    const filter = filters.excludedBy(objectPath(root, object));
    if (filter !== undefined) return `not read: ${filter} excludes it`;
    return this.#whyNotYet('objects');
  }

  whyNotVariable(variable: Variable): string {
    if (this.#tree.slotReader.isTracked(variable)) return '';
    const ofObject = this.whyNotObject(variable.object);
    if (ofObject !== '') return ofObject;
    return this.#whyNotYet('variables');
  }

  #whyNotYet(kind: 'objects' | 'variables'): string {
    const { usage } = this.#tree;
    // The usage may have fallen below its limit after the node was omitted. Then name the limit on the number of nodes.
    const limit = usage.reached(kind) ?? kind;
    return this.#view.isBound ? `left out: ${limitText(usage.limits, limit)}` : 'not added yet';
  }

  isRead(node: TreeNode): boolean {
    return this.#rowsOf(node).length > 0;
  }

  /** Whether a series of the node is shown. */
  isShown(node: TreeNode): boolean {
    return this.#rowsOf(node).some((row) => this.#stateOf(row, node).shown > 0);
  }

  metricsOf(node: TreeNode): readonly TreeMetric[] {
    return this.#rowsOf(node).map((row) => {
      const { name, type } = row.row.family;
      const { shown: series, clashing } = this.#stateOf(row, node);
      const why = series > 0 ? '' : this.#whyNot(row, node, clashing > 0);
      return { name, type, labels: row.labels(), series, why };
    });
  }

  #stateOf({ row }: MatchingRow, node: TreeNode): ReturnType<SeriesRegistry['stateOf']> {
    const [nodeId, maxSeries] = isVariable(node)
      ? [ownerOf(node, row.inputs.length), row.linesOf(node)]
      : [node.id, row.linesOf()];
    return this.#tree.registry.stateOf(row, nodeId, maxSeries);
  }

  #whyNot({ row, input }: MatchingRow, node: TreeNode, isClashing: boolean): string {
    const { slotReader, registry, builder } = this.#tree;
    if (!slotReader.isSynced(node)) return 'not synced yet';
    if (isClashing) return `clash: ${registry.clashOf(row.family)}`;
    if (isVariable(node)) {
      const types = input?.types ?? [];
      if (input !== undefined && !types.includes(node.type)) return wrongType(node.type, types);
      if (isFramed(node.type) && row.isComputed && builder.frames.of(node) === undefined)
        return 'its value changed during every attempt to copy it';
      if (row.linesOf(node) > MAX_LINES_A_ROW)
        return `a row shows at most ${MAX_LINES_A_ROW} series of a value`;
    }
    const refusal = registry.refusalOf(row.family);
    if (refusal !== '') return `left out: ${refusal}`;
    const nothing = 'the row shows no series of this value';
    return registry.omitted === 0 ? nothing : `${nothing}, or a limit of the target omits it`;
  }

  /** The rows of a node. A variable has none if a later variable of its object has the same name. */
  #rowsOf(node: TreeNode): readonly MatchingRow[] {
    if (!isVariable(node)) return this.#ofState(node);
    return this.#objects.isHidden(node) ? [] : this.#ofVariable(node);
  }

  /** The names of the metrics of a node, shown or not. A search calls this for very many variables. */
  namesOf(node: TreeNode): readonly string[] {
    if (!isVariable(node)) return this.#objects.statesOf(node).map(({ row }) => row.family.name);
    const bound = this.#objects.boundOf(node.object);
    if (bound === undefined || this.#objects.isHidden(node)) return [];
    const names: string[] = [];
    for (const { classRows } of bound.rows)
      for (const { row } of classRows.matchesOf(node.name)) names.push(row.family.name);
    if (names.length > 0) return names;
    const row = bound.declared?.rowOf(node);
    return row === undefined ? names : [row.family.name];
  }

  /** Why no row reads a tracked node. Empty if a row reads it, or if it is an object whose variables a row may read. */
  whyUnread(node: TreeNode): string {
    if (!isVariable(node)) return this.#whyObjectUnread(node);
    if (this.#objects.isHidden(node)) return 'a later variable of this object has the same name';
    const ofObject = this.#whyObjectUnread(node.object);
    if (ofObject !== '') return ofObject;
    if (this.#rowsOf(node).length > 0) return '';
    return this.#objects.boundOf(node.object)?.declared === undefined
      ? 'no row reads it'
      : 'the target excludes the classes of all rows that read it';
  }

  /** Why no row reads the variables of an object; empty if a row may read them. */
  #whyObjectUnread(object: ManagedObject): string {
    const bound = this.#objects.boundOf(object);
    if (bound === undefined || bound.rows.length > 0 || bound.declared !== undefined) return '';
    if (this.#objects.rowIndex?.hasClass(object.className) !== true) return 'its class has no row';
    return 'its class has rows only for objects at other paths';
  }

  #ofState(object: ManagedObject): readonly MatchingRow[] {
    return this.#objects.statesOf(object).map(({ row, labels }) => ({
      row,
      input: undefined,
      labels: () => labels.text,
    }));
  }

  #ofVariable(variable: Variable): readonly MatchingRow[] {
    const bound = this.#objects.boundOf(variable.object);
    if (bound === undefined) return [];
    const rows = bound.rows.flatMap(({ classRows, labels }) =>
      classRows.matchesOf(variable.name).map((match) => ({
        row: match.row,
        input: match.input,
        labels: () => labels.textWith(this.#objects.labels.ofMatch(match)),
      })),
    );
    if (rows.length > 0) return rows;
    const { declared } = bound;
    const row = declared?.rowOf(variable);
    if (declared === undefined || row === undefined) return rows;
    return [{ row, input: row.inputs[0], labels: () => declared.textOf(variable) }];
  }
}

/**
 * The node id of a row's series: the id of the object if the row reads several variables, otherwise the id of the
 * variable.
 */
const ownerOf = ({ id, object }: Variable & { readonly object: ManagedObject }, reads: number) =>
  reads > 1 ? object.id : id;

function wrongType(type: ValueType, types: readonly ValueType[]): string {
  const [last, ...others] = types.toReversed();
  const shown = [others.toReversed().join(', '), last].filter(Boolean).join(' or ');
  return `its type is ${type}, but the row reads ${shown}`;
}
