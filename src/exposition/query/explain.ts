// Explains a node: why it is not tracked, which metrics show it, or why no metric does.
import { objectPath } from '../../catalogue/match/row-index.js';
import { MAX_LINES_A_ROW } from '../../catalogue/row.js';
import type { ManagedObject, TreeMetric, ValueType, Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import { isVariable } from '../read/tree-walk.js';
import type { TreeNode } from '../read/tree-walk.js';
import type { BoundObjects, BoundRow } from '../rows/bound-objects.js';
import { limitText } from '../target-limits.js';
import type { TargetView } from '../target-view.js';

/** What a tree page says about a node beside its value. */
export interface Explainer {
  /** Why an object is not read; empty if it is. */
  whyNotObject(object: ManagedObject): string;
  whyNotVariable(variable: Variable): string;
  /** Whether a row reads the node. */
  isRead(node: TreeNode): boolean;
  /** Whether the node becomes a metric. */
  isShown(node: TreeNode): boolean;
  /** The names of the metrics of a node, shown or not. A search calls this for very many variables. */
  namesOf(node: TreeNode): readonly string[];
  metricsOf(node: TreeNode): readonly TreeMetric[];
  /** Why no row reads a node; empty if a row reads it, or if it is an object whose variables a row may read. */
  whyUnread(node: TreeNode): string;
}

/** Says why a view does not track a node, and lists the metrics of a tracked node or says why it has none. */
export class NodeExplainer implements Explainer {
  readonly #view: TargetView;
  readonly #objects: BoundObjects;

  constructor(view: TargetView) {
    this.#view = view;
    this.#objects = view.builder.objects;
  }

  whyNotObject(object: ManagedObject): string {
    const { root, filters } = this.#view.context;
    if (this.#objects.has(object)) return '';
    const filter = filters.excludedBy(objectPath(root, object));
    if (filter !== undefined) return `not read: ${filter} excludes it`;
    return this.#whyNotYet('objects');
  }

  whyNotVariable(variable: Variable): string {
    if (this.#view.context.nodes.isTracked(variable)) return '';
    const ofObject = this.whyNotObject(variable.object);
    if (ofObject !== '') return ofObject;
    return this.#whyNotYet('variables');
  }

  #whyNotYet(kind: 'objects' | 'variables'): string {
    const { usage } = this.#view.context;
    // The usage may have fallen below its limit after the node was omitted. Then name the limit on the number of nodes.
    const limit = usage.reached(kind) ?? kind;
    return this.#view.isBound ? `left out: ${limitText(usage.limits, limit)}` : 'not added yet';
  }

  isRead(node: TreeNode): boolean {
    return this.#objects.rowsOf(node).length > 0;
  }

  /** Whether a series of the node is shown. */
  isShown(node: TreeNode): boolean {
    const { registry } = this.#view.builder;
    return this.#objects.rowsOf(node).some((each) => registry.countsOf(each).shown > 0);
  }

  namesOf(node: TreeNode): readonly string[] {
    return this.#objects.rowsOf(node).map(({ row }) => row.family.name);
  }

  metricsOf(node: TreeNode): readonly TreeMetric[] {
    return this.#objects.rowsOf(node).map((each) => {
      const { name, type } = each.row.family;
      const { shown: series, clashing } = this.#view.builder.registry.countsOf(each);
      const why = series > 0 ? '' : this.#whyNot(each, node, clashing > 0);
      return { name, type, labels: each.labels.textWith(each.own), series, why };
    });
  }

  #whyNot({ row, input, maxSeries }: BoundRow, node: TreeNode, isClashing: boolean): string {
    const { registry, frames } = this.#view.builder;
    if (!this.#view.context.nodes.isSynced(node)) return 'not synced yet';
    if (isClashing) return `clash: ${registry.clashOf(row.family)}`;
    if (isVariable(node)) {
      const types = input?.types ?? [];
      if (input !== undefined && !types.includes(node.type)) return wrongType(node.type, types);
      if (isFramed(node.type) && row.isComputed && frames.of(node) === undefined)
        return 'its value changed during every attempt to copy it';
      if (maxSeries > MAX_LINES_A_ROW)
        return `a row shows at most ${MAX_LINES_A_ROW} series of a value`;
    }
    const refusal = registry.refusalOf(row.family);
    if (refusal !== '') return `left out: ${refusal}`;
    const nothing = 'the row shows no series of this value';
    return registry.omitted === 0 ? nothing : `${nothing}, or a limit of the target omits it`;
  }

  whyUnread(node: TreeNode): string {
    if (!isVariable(node)) return this.#whyObjectUnread(node);
    if (this.#objects.isHidden(node)) return 'a later variable of this object has the same name';
    const ofObject = this.#whyObjectUnread(node.object);
    if (ofObject !== '') return ofObject;
    if (this.isRead(node)) return '';
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
}

function wrongType(type: ValueType, types: readonly ValueType[]): string {
  const [last, ...others] = types.toReversed();
  const shown = [others.toReversed().join(', '), last].filter(Boolean).join(' or ');
  return `its type is ${type}, but the row reads ${shown}`;
}
