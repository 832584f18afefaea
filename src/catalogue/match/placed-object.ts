// An object as the catalogue sees it: its class, and its path under a root.
import type { ManagedObject } from '../../model.js';

export interface PlacedObject {
  readonly className: string;
  /** The object's id without the root's id and the dot; empty for the root itself. */
  readonly seedPath: string;
  /** The class of the ancestor at a seed path ('' is the root); undefined when there is none. */
  readonly ancestor: (seedPath: string) => string | undefined;
}

/**
 * Places `object` in the tree of `root`. An id that does not begin with the root's is kept whole.
 */
export function placeUnder(root: ManagedObject, object: ManagedObject): PlacedObject {
  const prefix = `${root.name}.`;
  const pathOf = (one: ManagedObject): string => {
    if (one === root) return '';
    return one.name.startsWith(prefix) ? one.name.slice(prefix.length) : one.name;
  };
  const ancestor = (seedPath: string): string | undefined => {
    for (let above = object.parent; above !== undefined; above = above.parent) {
      if (pathOf(above) === seedPath) return above.className;
      if (above === root) return undefined;
    }
    return undefined;
  };
  return { className: object.className, seedPath: pathOf(object), ancestor };
}
