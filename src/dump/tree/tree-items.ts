// The objects and variables that are shown, in the order of the tree, with their values.
import { quoted } from '../../document/document.js';
import { hint } from '../../document/nearest.js';
import { Fault } from '../../errors.js';
import { PASSED, PartWalk, Search, objectsBelow } from '../../exposition/query/part-walk.js';
import type { Fields } from '../../exposition/query/part-walk.js';
import { ItemValues, SlotCopies, TreeValues } from '../../exposition/query/tree-values.js';
import { isVariable } from '../../exposition/read/tree-walk.js';
import type { ManagedObject, Source, Variable } from '../../model.js';

/** Objects whose names are compared with one that is not there. */
const MAX_COMPARED = 20_000;

/** Its path below the root; empty for the root. */
export const pathOf = ({ name }: ManagedObject, root: ManagedObject): string =>
  name.startsWith(`${root.name}.`) ? name.slice(root.name.length + 1) : name;

/**
 * @param wanted an object's id, or its path below a root; undefined for all roots
 * @throws Fault USAGE if there is no such object
 */
export function chosenObjects(
  roots: Iterable<ManagedObject>,
  wanted: string | undefined,
): Iterable<ManagedObject> {
  if (wanted === undefined) return roots;
  const seen: string[] = [];
  for (const root of roots)
    for (const object of objectsBelow(root)) {
      const path = pathOf(object, root);
      if (object.name === wanted || path === wanted) return [object];
      if (seen.length < 2 * MAX_COMPARED) seen.push(object.name, path);
    }
  throw new Fault('USAGE', `--object: there is no object ${quoted(wanted)}${hint(wanted, seen)}`);
}

function rootOf(object: ManagedObject): ManagedObject {
  let root = object;
  for (let above = root.parent; above !== undefined; above = above.parent) root = above;
  return root;
}

// The values of one tree, read as they are needed.
export class TreeReading {
  /** For people. */
  readonly texts: TreeValues;
  /** As they are. */
  readonly values: ItemValues;
  readonly #slots: SlotCopies;

  constructor(readonly source: Source) {
    this.#slots = new SlotCopies(source);
    this.texts = new TreeValues(source, this.#slots);
    this.values = new ItemValues(source, this.#slots);
  }

  /** When the values of a root were, in Unix milliseconds, if it states that. */
  asOfMs({ asOf }: ManagedObject): number | undefined {
    const bits = asOf && this.#slots.bits(asOf);
    return bits === undefined ? undefined : Number(bits / 1_000_000n);
  }

  /** Values are copied anew from here on: the reader of what was printed may have taken long. */
  renew(): void {
    this.#slots.clear();
  }
}

export interface Choice {
  /** Only what is below this object: its id, or its path below the root. */
  readonly object: string | undefined;
  /** In lower case; each must occur in id, class, name or value. */
  readonly words: readonly string[];
}

export type TreeItem =
  | {
      readonly kind: 'object';
      readonly object: ManagedObject;
      readonly root: ManagedObject;
      /** Objects above it. */
      readonly depth: number;
    }
  | { readonly kind: 'variable'; readonly variable: Variable; readonly depth: number };

/**
 * The items that fit; a variable comes after its object, whether that fits or not.
 * @throws Fault USAGE if the chosen object is not there
 */
export function* treeItems(reading: TreeReading, choice: Choice): Generator<TreeItem> {
  const search = new Search({ words: choice.words, field: 'any' });
  for (const top of chosenObjects(reading.source.roots, choice.object)) {
    const root = rootOf(top);
    const levels = levelsAbove(top);
    const walk = new PartWalk(top, 0);
    let shown: ManagedObject | undefined;
    for (let item = walk.next(); item !== undefined; item = walk.next()) {
      if (item === PASSED || !search.fits(fieldsOf(item, reading.texts))) continue;
      const depth = levels + walk.depth;
      const object = isVariable(item) ? item.object : item;
      if (shown?.id !== object.id) yield { kind: 'object', object, root, depth };
      shown = object;
      if (isVariable(item)) yield { kind: 'variable', variable: item, depth };
    }
  }
}

function fieldsOf(item: ManagedObject | Variable, texts: TreeValues): Fields {
  const [object, variable] = isVariable(item) ? [item.object, item] : [item, undefined];
  return {
    object: object.name,
    className: object.className,
    variable: variable?.name,
    metrics: () => [],
    value: () => (variable ? texts.ofVariable(variable) : texts.ofObject(object)).text,
  };
}

function levelsAbove({ parent }: ManagedObject): number {
  let levels = 0;
  for (let above = parent; above !== undefined; above = above.parent) levels++;
  return levels;
}
