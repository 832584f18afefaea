// Evaluates a query of a target's tree in small steps. An answer lists the matching nodes of a part of the tree.
import { Budget } from '../../budget.js';
import type {
  ManagedObject,
  Source,
  TreeAnswer,
  TreeObject,
  TreePart,
  TreeQuery,
  TreeRow,
  TreeVariable,
  Variable,
} from '../../model.js';
import { SlotCopies } from '../read/node-values.js';
import type { TreeNode } from '../read/tree-walk.js';
import { isVariable, nodesBelow } from '../read/tree-walk.js';
import type { TargetView } from '../target-view.js';
import { NodeExplainer } from './explain.js';
import type { Explainer } from './explain.js';
import { TreeValues, noValue } from './tree-values.js';
import type { ReadValue } from './tree-values.js';

/** The number of nodes to visit before other work may run. */
const STEPS_A_PAUSE = 64;
/** The number of pauses after which the copies of slots are dropped, so that later reads copy them again. */
const PAUSES_A_COPY = 8;
const MAX_HELP = 512;
const MAX_LABELS = 1024;

const LOST: TreeAnswer = { kind: 'no-tree', reason: 'its root was lost during the query' };

/** A tree to query. */
export interface QueriedTree {
  readonly root: ManagedObject;
  readonly source: Source;
  readonly explainer: Explainer;
  /** Whether the target has lost the root since the query began. */
  readonly isClosed: () => boolean;
  /** Returns the numbers of objects and variables that the target tracks; undefined for a tree that no target has. */
  readonly tracked: (() => TreePart['tracked']) | undefined;
}

/**
 * Answers a query of the tree of a view in small steps. The query changes nothing, but the view may change between
 * steps.
 */
export const queryTree = (view: TargetView, query: TreeQuery): Generator<void, TreeAnswer> =>
  queryTreeOf(
    {
      ...{ root: view.context.root, source: view.context.source },
      explainer: new NodeExplainer(view),
      isClosed: () => view.isClosed,
      tracked: () => {
        const { objects, variables } = view.counts;
        return { objects: objects.total, variables: variables.total };
      },
    },
    query,
  );

/** Answers a query of a tree in small steps. */
export const queryTreeOf = (tree: QueriedTree, query: TreeQuery): Generator<void, TreeAnswer> =>
  new TreeQueryEvaluator(tree, query).steps();

/**
 * Whether each word occurs in one of the chosen fields of a node, ignoring case.
 * @param metrics returns the names of its metrics; called on demand
 * @param value returns its value as text; called on demand
 */
export function matches(
  { words, field }: Pick<TreeQuery, 'words' | 'field'>,
  node: TreeNode,
  metrics: () => readonly string[],
  value: () => string,
): boolean {
  const object = isVariable(node) ? node.object : node;
  const isChosen = (name: TreeQuery['field']): boolean => field === 'any' || field === name;
  return words.every((word) => {
    const has = (text: string): boolean => text.toLowerCase().includes(word);
    return (
      (isChosen('object') && has(object.name)) ||
      (isChosen('class') && has(object.className)) ||
      (isChosen('variable') && isVariable(node) && has(node.name)) ||
      (isChosen('metric') && metrics().some(has)) ||
      (isChosen('value') && has(value()))
    );
  });
}

class TreeQueryEvaluator {
  readonly #tree: QueriedTree;
  readonly #explainer: Explainer;
  readonly #query: TreeQuery;
  readonly #slots: SlotCopies;
  readonly #values: TreeValues;
  readonly #rows: TreeRow[] = [];
  #characters = 0;
  #steps = 0;
  /** The object that was last added to the answer. */
  #shown: ManagedObject | undefined;

  constructor(tree: QueriedTree, query: TreeQuery) {
    const { source, explainer } = tree;
    this.#tree = tree;
    this.#explainer = explainer;
    this.#query = query;
    this.#slots = new SlotCopies(source);
    this.#values = new TreeValues(source, this.#slots);
  }

  /** Runs the query and returns its answer. A step reads at most one node with its value. */
  *steps(): Generator<void, TreeAnswer> {
    const { root, source } = this.#tree;
    yield* source.computingValues?.() ?? [];
    const top = yield* this.#find();
    if (this.#tree.isClosed()) return LOST;
    if (top === undefined) return { kind: 'no-object' };
    const above = ancestorsOf(top, root);
    // The time limit starts when the position of the query is reached, so that each query makes progress.
    let time: Budget | undefined;
    let position = 0;
    for (const node of nodesBelow(top)) {
      if (position >= this.#query.from) {
        // Wall-clock time: the client also waits while other work runs.
        time ??= new Budget({ ms: this.#query.maxMs });
        if (this.#isFull) return this.#part(above, position, false);
        if (isVariable(node)) this.#visitVariable(node);
        else this.#visitObject(node);
      }
      position++;
      if (!this.#isPause()) continue;
      if (time?.isSpent === true) return this.#part(above, position, true);
      yield;
      if (this.#tree.isClosed()) return LOST;
    }
    return this.#part(above, undefined, false);
  }

  get #isFull(): boolean {
    const { maxRows, maxCharacters } = this.#query;
    return this.#rows.length >= maxRows || this.#characters >= maxCharacters;
  }

  #isPause(): boolean {
    if (++this.#steps % STEPS_A_PAUSE > 0) return false;
    if (this.#steps % (STEPS_A_PAUSE * PAUSES_A_COPY) === 0) this.#slots.clear();
    return true;
  }

  /** The object that the query names. */
  *#find(): Generator<void, ManagedObject | undefined> {
    const { root } = this.#tree;
    const { object: wanted } = this.#query;
    if (wanted === '') return root;
    const below = `${root.name}.${wanted}`;
    for (const node of nodesBelow(root)) {
      if (!isVariable(node) && (node.name === wanted || node.name === below)) return node;
      if (!this.#isPause()) continue;
      yield;
      if (this.#tree.isClosed()) return undefined;
    }
    return undefined;
  }

  #part(above: readonly string[], next: number | undefined, isLate: boolean): TreeAnswer {
    const { root, tracked } = this.#tree;
    const rows = this.#rows;
    return { kind: 'part', root: root.name, above, rows, next, isLate, tracked: tracked?.() };
  }

  #visitObject(object: ManagedObject): void {
    const explainer = this.#explainer;
    const whyNot = explainer.whyNotObject(object);
    const read = whyNot === '' ? this.#values.ofObject(object) : NOT_READ;
    if (!this.#isChosen(object, read, whyNot === '' && explainer.whyUnread(object) === '')) return;
    const names = () => explainer.namesOf(object);
    if (matches(this.#query, object, names, () => read.text)) this.#addObject(object, true);
  }

  #visitVariable(variable: Variable): void {
    const explainer = this.#explainer;
    const whyNot = explainer.whyNotVariable(variable);
    let known: ReadValue | undefined;
    const read = (): ReadValue => (known ??= whyNot === '' ? this.#read(variable) : NOT_READ);
    const { choice } = this.#query;
    if (choice === 'unsynced' && (whyNot !== '' || read().isSynced)) return;
    if (choice === 'metrics' && !explainer.isShown(variable)) return;
    if (choice === 'left-out' && explainer.isShown(variable)) return;
    const names = () => explainer.namesOf(variable);
    if (!matches(this.#query, variable, names, () => read().text)) return;
    const { object } = variable;
    if (this.#shown?.id !== object.id) this.#addObject(object, false);
    this.#add(this.#variableRow(variable, read(), whyNot));
  }

  /**
   * Whether the query chooses an object. An object counts as left out if a filter or limit excludes it, or if no row
   * applies to it. It does not count as left out merely because no row shows its state.
   */
  #isChosen(object: ManagedObject, { isSynced }: ReadValue, isIncluded: boolean): boolean {
    const { choice } = this.#query;
    if (choice === 'all') return true;
    if (choice === 'unsynced') return isIncluded && !isSynced;
    return choice === 'metrics' ? this.#explainer.isShown(object) : !isIncluded;
  }

  #read(variable: Variable): ReadValue {
    const isHidden =
      variable.type === 'string' &&
      !this.#query.showsUnreadTexts &&
      !this.#explainer.isRead(variable);
    const read = this.#values.ofVariable(variable);
    return isHidden && read.isSynced ? HIDDEN : read;
  }

  #addObject(object: ManagedObject, isMatch: boolean): void {
    const explainer = this.#explainer;
    const { id, name, className } = object;
    const whyNot = explainer.whyNotObject(object);
    const read = whyNot === '' ? this.#values.ofObject(object) : NOT_READ;
    const depth = ancestorsOf(object, this.#tree.root).length;
    const row: TreeObject = {
      ...{ kind: 'object', id, name, className, depth, isMatch },
      variables: object.variables.size,
      children: object.children.size,
      ...outcome(object, read, explainer, whyNot),
    };
    this.#shown = object;
    this.#add(row);
  }

  #variableRow(variable: Variable, read: ReadValue, whyNot: string): TreeVariable {
    const { id, name, type, kind, unit, help } = variable;
    return {
      ...{ kind: 'variable', id, name, type, unit, variableKind: kind },
      help: help.slice(0, MAX_HELP),
      ...outcome(variable, read, this.#explainer, whyNot),
    };
  }

  #add(row: TreeRow): void {
    this.#rows.push(row);
    this.#characters += charactersOf(row);
  }
}

const NOT_READ = noValue('not read', false);
const HIDDEN = noValue('hidden: no catalogue row reads this string', true);

/** The value of a node, and its metrics or the reason why it has none. */
function outcome(
  node: TreeNode,
  { value, isSynced }: ReadValue,
  explainer: Explainer,
  whyNot: string,
) {
  if (whyNot !== '') return { value, isSynced, metrics: [], why: whyNot };
  const metrics = explainer
    .metricsOf(node)
    .map((each) => ({ ...each, labels: each.labels.slice(0, MAX_LABELS) }));
  return { value, isSynced, metrics, why: explainer.whyUnread(node) };
}

/** The names of the ancestors of an object, from the root on. */
function ancestorsOf(object: ManagedObject, root: ManagedObject): readonly string[] {
  const names: string[] = [];
  if (object === root) return names;
  for (let at = object.parent; at !== undefined; at = at === root ? undefined : at.parent)
    names.unshift(at.name);
  return names;
}

function charactersOf(row: TreeRow): number {
  const metrics = row.metrics.reduce(
    (sum, { name, labels, why }) => sum + name.length + labels.length + why.length,
    0,
  );
  const value = row.value.kind === 'none' ? row.value.reason : row.value.text;
  const own = row.kind === 'object' ? row.className : row.help + row.unit;
  return row.name.length + own.length + value.length + row.why.length + metrics;
}
