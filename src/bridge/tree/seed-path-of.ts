// Where an object stands below its root.
import type { ComponentObject } from './component-tree.js';

/** The object's id without its root's, empty for a root; an id that does not begin with that stays whole. */
export function seedPathOf(object: ComponentObject): string {
  let root = object;
  while (root.parent !== undefined) root = root.parent;
  if (root === object) return '';
  const prefix = `${root.id}.`;
  return object.id.startsWith(prefix) ? object.id.slice(prefix.length) : object.id;
}
