// The objects below a root as they are now, each with its path; a bounded number of them.
import { placeUnder } from '../../catalogue/match/rules.js';
import type { PlacedObject } from '../../catalogue/match/rules.js';
import type { ManagedObject, Variable } from '../../model.js';

const MAX_OBJECTS = 200_000;
const MAX_VARIABLES = 1_000_000;

export interface CountedObject extends PlacedObject {
  /** The variable of each name; of several, the latest. */
  readonly variables: ReadonlyMap<string, Variable>;
  /** Whether no object is below it. */
  readonly isLeaf: boolean;
}

export interface Census {
  readonly objects: readonly CountedObject[];
  /** False if there are more objects or variables than the bound. */
  readonly isWhole: boolean;
}

export function census(root: ManagedObject): Census {
  const objects: CountedObject[] = [];
  const waiting = [root];
  let variables = 0;
  for (let object = waiting.pop(); object !== undefined; object = waiting.pop()) {
    variables += object.variables.size;
    if (objects.length >= MAX_OBJECTS || variables > MAX_VARIABLES)
      return { objects, isWhole: false };
    objects.push({
      ...placeUnder(root, object),
      variables: byName(object),
      isLeaf: object.children.size === 0,
    });
    waiting.push(...object.children);
  }
  return { objects, isWhole: true };
}

function byName({ variables }: ManagedObject): ReadonlyMap<string, Variable> {
  const latest = new Map<string, Variable>();
  for (const variable of variables)
    if ((latest.get(variable.name)?.id ?? -1) < variable.id) latest.set(variable.name, variable);
  return latest;
}
