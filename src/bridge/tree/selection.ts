// Selects what to publish of a component's tree: classes, seed paths and variables.
import { compileSeedPrefix } from '../../catalogue/match/seed-prefix.js';
import { segmentsOf } from '../../catalogue/match/segment.js';
import { compileWildcard } from '../../rules/wildcard.js';
import type { ComponentObject, ComponentTree, ComponentVariable } from './component-tree.js';
import { seedPathOf } from './seed-path-of.js';

export interface SelectionSettings {
  /** Class ids with `*`; empty selects all. */
  readonly classes: readonly string[];
  readonly excludeClasses: readonly string[];
  /** Prefixes as in the exporter; empty selects all. */
  readonly seedPaths: readonly string[];
  /** Names of variables with `*`. */
  readonly excludeVariables: readonly string[];
}

/** The objects to be published, by id, parents before their children. */
export type Selected = ReadonlyMap<string, ComponentObject>;
export type Selection = (tree: ComponentTree) => Selected;

/**
 * Selects objects by class and seed path, and variables by name. An unselected object with a
 * selected one below it is kept without variables; a root is always kept.
 * @throws Fault CONFIG_INVALID for an invalid seed path
 */
export function compileSelection(settings: SelectionSettings): Selection {
  const { seedPaths, excludeVariables } = settings;
  const inClass = classCondition(settings);
  const prefixes = seedPaths.map(compileSeedPrefix);
  const isExcluded = anyOf(excludeVariables);
  const inPaths = (object: ComponentObject): boolean => {
    if (prefixes.length === 0) return true;
    const segments = segmentsOf(seedPathOf(object));
    return prefixes.some((begins) => begins(segments));
  };
  const variablesOf = ({ variables }: ComponentObject) =>
    excludeVariables.length === 0
      ? variables
      : new Map([...variables].filter(([name]) => !isExcluded(name)));
  const isEverything =
    settings.classes.length + settings.excludeClasses.length + prefixes.length === 0;
  if (isEverything && excludeVariables.length === 0) return ({ objects }) => objects;

  return ({ objects }) => {
    const kept = new Set<ComponentObject>();
    const keep = (object: ComponentObject): void => {
      for (let at = object.parent; at !== undefined && !kept.has(at); at = at.parent) kept.add(at);
      kept.add(object);
    };
    const chosen = new Set<ComponentObject>();
    for (const object of objects.values()) {
      const isChosen = inClass(object.className) && inPaths(object);
      if (isChosen) chosen.add(object);
      if (isChosen || object.parent === undefined) keep(object);
    }
    return new Map(
      [...objects]
        .filter(([, object]) => kept.has(object))
        .map(([id, object]) => [
          id,
          { ...object, variables: chosen.has(object) ? variablesOf(object) : NONE },
        ]),
    );
  };
}

const NONE: ReadonlyMap<string, ComponentVariable> = new Map();

function classCondition({ classes, excludeClasses }: SelectionSettings) {
  const isIn = classes.length === 0 ? () => true : anyOf(classes);
  const isOut = anyOf(excludeClasses);
  return (className: string): boolean => isIn(className) && !isOut(className);
}

function anyOf(patterns: readonly string[]): (text: string) => boolean {
  const compiled = patterns.map(compileWildcard);
  return (text) => compiled.some((fits) => fits(text));
}
