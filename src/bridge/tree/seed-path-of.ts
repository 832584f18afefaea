// The path of an object below its root.
import type { ComponentObject } from './component-tree.js';

/**
 * The object's id without its root's id, empty for a root; an id without that prefix is kept whole.
 */
export function seedPathOf(object: ComponentObject): string {
  let root = object;
  while (root.parent !== undefined) root = root.parent;
  if (root === object) return '';
  const prefix = `${root.id}.`;
  return object.id.startsWith(prefix) ? object.id.slice(prefix.length) : object.id;
}
