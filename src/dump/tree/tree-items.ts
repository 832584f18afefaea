// The objects and variables that are shown, in the order of the tree.
import { PASSED, PartWalk } from '../../exposition/look/part-walk.js';
import { Search } from '../../exposition/look/search.js';
import type { Fields } from '../../exposition/look/search.js';
import type { TreeValues } from '../../exposition/look/tree-values.js';
import { isVariable } from '../../exposition/read/pending-items.js';
import type { ManagedObject, Variable } from '../../model.js';
import { chosenObjects, rootOf } from './chosen-objects.js';
import type { TreeReading } from './tree-reading.js';

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
