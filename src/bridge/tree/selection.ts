// Selects the objects of a tree to publish, and writes them as a scenario, the input of the simulator.
import { compileSeedPrefix, segmentsOf } from '../../catalogue/match/patterns.js';
import { quoted } from '../../document/document.js';
import { compileWildcard } from '../../rules/formats.js';
import { seedPathOf } from './component-tree.js';
import type { ComponentObject, ComponentTree, ComponentVariable } from './component-tree.js';

export interface SelectionSettings {
  /** Class ids; `*` matches any characters. An empty list selects all. */
  readonly classes: readonly string[];
  readonly excludeClasses: readonly string[];
  /** Prefixes of seed paths, in the exporter's syntax. An empty list selects all. */
  readonly seedPaths: readonly string[];
  /** Names of variables; `*` matches any characters. */
  readonly excludeVariables: readonly string[];
}

/** The objects to be published, by id, parents before their children. */
export type Selected = ReadonlyMap<string, ComponentObject>;
export type TreeSelection = (tree: ComponentTree) => Selected;

/**
 * Selects objects by class and seed path, and variables by name. Also keeps unselected roots and unselected ancestors
 * of selected objects, but without their variables.
 * @throws Fault CONFIG_INVALID for an invalid seed path
 */
export function compileSelection(settings: SelectionSettings): TreeSelection {
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

/** Returns a warning for each pattern that matches nothing. */
export function unmatchedPatterns(
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
      .map((pattern) => `${key}: ${quoted(pattern)} matches nothing in this tree`);
  return [
    ...idle('classes', classes, compileWildcard, classNames),
    ...idle('exclude_classes', excludeClasses, compileWildcard, classNames),
    ...idle('seed_paths', seedPaths, compileSeedPrefix, paths),
    ...idle('exclude_variables', excludeVariables, compileWildcard, variables),
  ];
}

/** The names of the segment that a scenario describes. */
interface ScenarioPlace {
  readonly contextId: string;
  readonly poolName: string;
  readonly serverKey: string;
}

/** The text of a scenario file: JSON, with one line per object and variable. */
export function scenarioText(objects: Selected, place: ScenarioPlace): string {
  const head = {
    context_id: place.contextId,
    pool_name: place.poolName,
    server_key: place.serverKey,
  };
  const items = [...objects.values()].map(({ id, parent, className, state, variables }) => {
    const facts = {
      id,
      ...(parent !== undefined && { parent: parent.id }),
      class: className,
      ...(state !== 'normal' && { state }),
    };
    const lines = [...variables.values()].map(variableLine);
    return `${JSON.stringify(facts).slice(0, -1)},"variables":{${lines.length > 0 ? '\n' : ''}${lines.join(',\n')}}}`;
  });
  return `${JSON.stringify(head).slice(0, -1)},"objects":[\n${items.join(',\n')}\n]}\n`;
}

function variableLine({ name, kind, value: { type, value } }: ComponentVariable): string {
  // Many JSON readers round large integers, so large integers become decimal strings.
  const exact = typeof value === 'bigint' ? String(value) : value;
  const facts = { type, ...(kind !== 'unknown' && { kind }), value: exact };
  return `  ${JSON.stringify(name)}:${JSON.stringify(facts)}`;
}
