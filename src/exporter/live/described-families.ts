// The metrics of an application without a catalogue, as its publisher describes them now.
import { SelfDescribed } from '../../exposition/rows/self-described.js';
import type { FamilyFacts } from '../../model.js';
import type { CountedObject } from './census.js';

export function describedFamilies(
  app: string,
  objects: readonly CountedObject[],
): ReadonlySet<FamilyFacts> {
  const described = new SelfDescribed(app);
  const families = new Set<FamilyFacts>();
  for (const { variables } of objects)
    for (const variable of variables.values()) families.add(described.rowFor(variable).family);
  return families;
}
