// Explains the nodes of a tree whose publisher is not served any more, by catalogue and filters alone.
import { uncataloguedIn } from '../../catalogue/match/filters.js';
import type { Filters, Uncatalogued } from '../../catalogue/match/filters.js';
import type { Catalogue } from '../../catalogue/catalogue.js';
import { objectPath } from '../../catalogue/match/row-index.js';
import type { ObjectPath, ObjectRows } from '../../catalogue/match/row-index.js';
import type { Row } from '../../catalogue/row.js';
import type { ManagedObject, TreeMetric } from '../../model.js';
import { isVariable } from '../read/tree-walk.js';
import type { TreeNode } from '../read/tree-walk.js';
import { DeclaredRows } from '../rows/declared-rows.js';
import type { Explainer } from './explain.js';

export interface LastTreeSettings {
  readonly app: string;
  readonly catalogue: Catalogue | undefined;
  readonly filters: Filters;
  readonly showUncatalogued: boolean;
}

interface FoundRows {
  readonly object: ManagedObject;
  readonly path: ObjectPath;
  readonly rows: readonly ObjectRows[];
}

/** Names the metrics that the values of a tree were before their publisher ended. They have no series now. */
export class LastExplainer implements Explainer {
  readonly #root: ManagedObject;
  readonly #settings: LastTreeSettings;
  readonly #uncatalogued: Uncatalogued | undefined;
  readonly #declaredRows: DeclaredRows;
  /** The rows of the last object. */
  #found: FoundRows | undefined;

  constructor(root: ManagedObject, settings: LastTreeSettings) {
    const { app, catalogue, filters, showUncatalogued } = settings;
    this.#root = root;
    this.#settings = settings;
    this.#uncatalogued = showUncatalogued ? uncataloguedIn(catalogue, filters) : undefined;
    this.#declaredRows = new DeclaredRows(app, this.#uncatalogued?.taken);
  }

  whyNotObject(object: ManagedObject): string {
    const filter = this.#settings.filters.excludedBy(this.#rowsOf(object).path);
    return filter === undefined ? '' : `not read: ${filter} excludes it`;
  }

  whyNotVariable = ({ object }: { readonly object: ManagedObject }): string =>
    this.whyNotObject(object);

  isRead = (node: TreeNode): boolean => this.#read(node).length > 0;

  isShown = (node: TreeNode): boolean => this.isRead(node);

  namesOf = (node: TreeNode): readonly string[] =>
    this.#read(node).map(({ family }) => family.name);

  metricsOf = (node: TreeNode): readonly TreeMetric[] =>
    this.#read(node).map(({ family: { name, type } }) => ({
      ...{ name, type },
      ...{ labels: '', series: 0, why: '' },
    }));

  whyUnread = (node: TreeNode): string =>
    !isVariable(node) || this.isRead(node) ? '' : 'no row reads it';

  /** The rows that read a node. */
  #read(node: TreeNode): readonly Row[] {
    const object = isVariable(node) ? node.object : node;
    if (this.whyNotObject(object) !== '') return [];
    const { rows, path } = this.#rowsOf(object);
    if (!isVariable(node)) return rows.flatMap(({ classRows }) => classRows.stateRows);
    const own = rows.flatMap(({ classRows }) =>
      classRows.matchesOf(node.name).map(({ row }) => row),
    );
    if (own.length > 0) return own;
    return rows.some(({ classRows }) => classRows.isDescribed) || this.#isDeclared(path, node.name)
      ? [this.#declaredRows.rowFor(node, this.#declaredRows.declaredMetric(node))]
      : [];
  }

  /** Whether a variable without a row is shown as its publisher declares it. */
  #isDeclared(path: ObjectPath, name: string): boolean {
    if (this.#settings.filters.rowIndex === undefined) return true;
    const excluded = this.#uncatalogued?.rowIndex.rowsFor(path);
    return excluded?.every(({ classRows }) => classRows.matchesOf(name).length === 0) === true;
  }

  #rowsOf(object: ManagedObject): FoundRows {
    if (this.#found?.object === object) return this.#found;
    const path = objectPath(this.#root, object);
    const rows = this.#settings.filters.rowIndex?.rowsFor(path) ?? [];
    return (this.#found = { object, path, rows });
  }
}
