// Filters of a target that match nothing in the existing tree.
import type { Catalogue } from '../../catalogue/catalogue.js';
import type { FilterSettings } from '../../catalogue/match/filters.js';
import type { PlacedObject } from '../../catalogue/match/rules.js';
import { compileRules } from '../../catalogue/match/rules.js';
import { compileSeedPrefix, segmentsOf } from '../../catalogue/match/patterns.js';
import { quoted } from '../../document/document.js';
import type { Path } from '../../document/document.js';
import { hint } from '../../document/nearest.js';
import { idleClass } from './idle-class.js';
import { Candidates } from './listed.js';

/** A sentence about the value at a path inside the target, such as `['classes', 0]`. */
export interface Finding {
  readonly path: Path;
  readonly sentence: string;
}

/**
 * One for each class, group and seed path that no object matches, whatever the other filters do.
 */
export function filterFindings(
  { classes, seedPathGroups, seedPaths }: FilterSettings,
  catalogue: Catalogue | undefined,
  objects: readonly PlacedObject[],
): readonly Finding[] {
  const found = objects.map(({ seedPath }) => segmentsOf(seedPath));
  const isIdle = (prefixes: readonly string[]): boolean => {
    const compiled = prefixes.map(compileSeedPrefix);
    return !found.some((path) => compiled.some((begins) => begins(path)));
  };
  const groups = catalogue?.seedPathGroups;
  return [
    ...idleIn('classes', classes, idleChoice(catalogue, objects)),
    ...idleIn('seed_path_groups', seedPathGroups, (name) =>
      isIdle(groups?.get(name) ?? []) ? `no object is in the group ${quoted(name)}` : undefined,
    ),
    ...idleIn('seed_paths', seedPaths, (path) => {
      if (!isIdle([path])) return undefined;
      const near = hint(path, startsOf(found, segmentsOf(path).length));
      return `no object is at ${quoted(path)}${near}`;
    }),
  ];
}

/** The sentences about values of a list, each with its path. */
const idleIn = (
  key: string,
  values: readonly string[],
  sentenceOf: (value: string) => string | undefined,
): readonly Finding[] =>
  values.flatMap((value, index) => {
    const sentence = sentenceOf(value);
    return sentence === undefined ? [] : [{ path: [key, index], sentence }];
  });

/** The sentence about a class that no object matches. */
function idleChoice(catalogue: Catalogue | undefined, objects: readonly PlacedObject[]) {
  const published = new Set(objects.map(({ className }) => className));
  return (alias: string): string | undefined => {
    if (catalogue === undefined)
      return published.has(alias)
        ? undefined
        : `no object is of class ${quoted(alias)}${hint(alias, published)}`;
    const chosen = catalogue.classes.filter((each) => each.alias === alias);
    const rules = compileRules({ classes: chosen });
    if (objects.some((object) => rules.reads(object))) return undefined;
    return chosen.map(idleClass).join('; ');
  };
}

/** The first path segments of seed paths, as many as given. */
function startsOf(seedPaths: readonly (readonly string[])[], segments: number): Candidates {
  const starts = new Candidates();
  for (const path of seedPaths)
    if (path.length >= segments) starts.add(path.slice(0, segments).join('.'));
  return starts;
}
