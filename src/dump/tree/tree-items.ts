// The selected objects and variables of a tree with their values, in tree order.
import { quoted } from '../../document/document.js';
import { hint } from '../../document/nearest.js';
import { Fault } from '../../errors.js';
import { matches } from '../../exposition/query/tree-query.js';
import { TreeValues } from '../../exposition/query/tree-values.js';
import { NodeValues, SlotCopies } from '../../exposition/read/node-values.js';
import { isVariable, nodesBelow } from '../../exposition/read/tree-walk.js';
import type { ManagedObject, Source, Variable } from '../../model.js';

/** The maximum number of objects whose names are compared with an unknown name. */
const MAX_COMPARED = 20_000;

/** The path of an object below its root; the whole id if the root's id is not its prefix. */
export const pathOf = ({ name }: ManagedObject, root: ManagedObject): string =>
  name.startsWith(`${root.name}.`) ? name.slice(root.name.length + 1) : name;

/**
 * The objects at which the selection begins.
 * @param idOrPath an object's id, or its path below a root; undefined for all roots
 * @throws Fault USAGE if there is no such object
 */
export function chosenObjects(
  roots: Iterable<ManagedObject>,
  idOrPath: string | undefined,
): Iterable<ManagedObject> {
  if (idOrPath === undefined) return roots;
  const seen: string[] = [];
  for (const root of roots)
    for (const object of nodesBelow(root)) {
      if (isVariable(object)) continue;
      const path = pathOf(object, root);
      if (object.name === idOrPath || path === idOrPath) return [object];
      if (seen.length < 2 * MAX_COMPARED) seen.push(object.name, path);
    }
  throw new Fault(
    'USAGE',
    `--object: there is no object ${quoted(idOrPath)}${hint(idOrPath, seen)}`,
  );
}

/** Reads the values of one tree on demand. */
export class TreeReading {
  /** Values as text for people. */
  readonly texts: TreeValues;
  /** Values without formatting. */
  readonly values: NodeValues;
  readonly #slots: SlotCopies;

  constructor(readonly source: Source) {
    this.#slots = new SlotCopies(source);
    this.texts = new TreeValues(source, this.#slots);
    this.values = new NodeValues(source, this.#slots);
  }

  /** The time of a root's values, in Unix milliseconds; undefined if the publisher declares none. */
  asOfMs({ asOf }: ManagedObject): number | undefined {
    const bits = asOf && this.#slots.bits(asOf);
    return bits === undefined ? undefined : Number(bits / 1_000_000n);
  }

  /** Drops the copied values, so that a slow reader gets new values. */
  renew(): void {
    this.#slots.clear();
  }
}

export interface Choice {
  /** The id of the topmost object, or its path below a root; undefined for all roots. */
  readonly object: string | undefined;
  /** Words in lower case; each must occur in id, class, name or value. */
  readonly words: readonly string[];
}

export type TreeItem =
  | {
      readonly kind: 'object';
      readonly object: ManagedObject;
      readonly root: ManagedObject;
      /** The number of the item's ancestors in the tree. */
      readonly depth: number;
    }
  | { readonly kind: 'variable'; readonly variable: Variable; readonly depth: number };

/**
 * The selected items. A variable comes after its object, even if only the variable matches.
 * @throws Fault USAGE if the selected object does not exist
 */
export function* treeItems(reading: TreeReading, choice: Choice): Generator<TreeItem> {
  const search = { words: choice.words, field: 'any' } as const;
  for (const top of chosenObjects(reading.source.roots, choice.object)) {
    const above = ancestors(top);
    const root = above.at(-1) ?? top;
    let shown: ManagedObject | undefined;
    for (const node of nodesBelow(top)) {
      const value = () => textOf(node, reading.texts);
      if (!matches(search, node, () => [], value)) continue;
      const object = isVariable(node) ? node.object : node;
      const depth = ancestors(object).length;
      if (shown?.id !== object.id) yield { kind: 'object', object, root, depth };
      shown = object;
      if (isVariable(node)) yield { kind: 'variable', variable: node, depth };
    }
  }
}

const textOf = (node: ManagedObject | Variable, texts: TreeValues): string =>
  (isVariable(node) ? texts.ofVariable(node) : texts.ofObject(node)).text;

/** The objects above an object, from its parent to its root. */
function ancestors(object: ManagedObject): readonly ManagedObject[] {
  const above: ManagedObject[] = [];
  for (let { parent } = object; parent !== undefined; { parent } = parent) above.push(parent);
  return above;
}
