// Checks that the `variable` of a target exists in the tree.
import { quoted } from '../../document/document.js';
import { hint } from '../../document/nearest.js';
import { NamedVariable } from '../../exposition/read/named-variable.js';
import { isVariable } from '../../exposition/read/pending-items.js';
import { TreeWalk } from '../../exposition/read/tree-walk.js';
import type { ManagedObject } from '../../model.js';
import type { CountedObject, Finding } from './findings.js';
import { Candidates } from './findings.js';

/** A finding if nothing exists at the path; none for an empty path. */
export function variableFinding(
  root: ManagedObject,
  path: string,
  objects: readonly CountedObject[],
): readonly Finding[] {
  if (path === '') return [];
  const named = new NamedVariable(root, path);
  const walk = new TreeWalk(root, true);
  for (let item = walk.next(); item !== undefined; item = walk.next())
    if (isVariable(item)) named.addVariable(item);
    else named.addObject(item);
  if (named.find() !== undefined) return [];
  const sentence = `nothing is at ${quoted(path)}${hint(path, pathsLike(path, objects))}`;
  return [{ path: ['variable'], sentence }];
}

/** Paths of variables of similar length, since no other can be near. */
function pathsLike(path: string, objects: readonly CountedObject[]): Candidates {
  const paths = new Candidates();
  for (const { seedPath, variables } of objects)
    for (const name of variables.keys()) {
      const other = seedPath === '' ? name : `${seedPath}.${name}`;
      if (Math.abs(other.length - path.length) <= 2) paths.add(other);
    }
  return paths;
}
