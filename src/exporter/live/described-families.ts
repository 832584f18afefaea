// The metrics that existing variables become as their publisher describes them.
import type { Uncatalogued } from '../../catalogue/match/uncatalogued.js';
import { SelfDescribed } from '../../exposition/rows/self-described.js';
import type { FamilyFacts } from '../../model.js';
import type { CountedObject } from './census.js';

/** @param uncatalogued set if there is a catalogue: then only of variables that none of its rows reads */
export function describedFamilies(
  app: string,
  objects: readonly CountedObject[],
  uncatalogued?: Uncatalogued,
): ReadonlySet<FamilyFacts> {
  const described = new SelfDescribed(app, uncatalogued?.taken);
  const families = new Set<FamilyFacts>();
  for (const object of objects) {
    const sets = uncatalogued?.rules.rulesFor(object).map(({ set }) => set) ?? [];
    for (const variable of object.variables.values())
      if (sets.every((set) => !set.isDescribed && set.usesOf(variable.name).length === 0))
        families.add(described.rowFor(variable, described.statedFor(variable)).family);
  }
  return families;
}
