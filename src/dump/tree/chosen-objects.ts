// The objects at the top of what is shown: all roots, or the one that was asked for.
import { quoted } from '../../document/key-path.js';
import { hint } from '../../document/nearest.js';
import { Fault } from '../../errors.js';
import { objectsBelow } from '../../exposition/look/objects-below.js';
import type { ManagedObject } from '../../model.js';

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

export function rootOf(object: ManagedObject): ManagedObject {
  let root = object;
  for (let above = root.parent; above !== undefined; above = above.parent) root = above;
  return root;
}
