// Finds patterns of a selection that match nothing in a tree, mostly misspelled ones.
import { compileSeedPrefix } from '../../catalogue/match/seed-prefix.js';
import { segmentsOf } from '../../catalogue/match/segment.js';
import { compileWildcard } from '../../rules/wildcard.js';
import { quoted } from '../../document/key-path.js';
import type { ComponentTree } from './component-tree.js';
import { seedPathOf } from './seed-path-of.js';
import type { SelectionSettings } from './selection.js';

/** One sentence for each such pattern. */
export function idlePatterns(
  { classes, excludeClasses, seedPaths, excludeVariables }: SelectionSettings,
  { objects }: ComponentTree,
): readonly string[] {
  const all = [...objects.values()];
  const classNames = new Set(all.map(({ className }) => className));
  const variables = new Set(all.flatMap((object) => [...object.variables.keys()]));
  const paths = seedPaths.length === 0 ? [] : all.map((object) => segmentsOf(seedPathOf(object)));
  const idle = <T>(
    key: string,
    patterns: readonly string[],
    compile: (pattern: string) => (each: T) => boolean,
    found: Iterable<T>,
  ) =>
    patterns
      .filter((pattern) => ![...found].some(compile(pattern)))
      .map((pattern) => `${key}: ${quoted(pattern)} fits nothing in this tree`);
  return [
    ...idle('classes', classes, compileWildcard, classNames),
    ...idle('exclude_classes', excludeClasses, compileWildcard, classNames),
    ...idle('seed_paths', seedPaths, compileSeedPrefix, paths),
    ...idle('exclude_variables', excludeVariables, compileWildcard, variables),
  ];
}
