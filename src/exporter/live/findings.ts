// Finds classes and filters that match nothing in the existing tree.
import type { Catalogue } from '../../catalogue/catalogue.js';
import type { CatalogueClass } from '../../catalogue/catalogue-class.js';
import type { FilterSettings, Filters } from '../../catalogue/match/filters.js';
import { ROOT, compileSeedPrefix, segmentsOf } from '../../catalogue/match/patterns.js';
import { indexRows, objectPath } from '../../catalogue/match/row-index.js';
import type { ObjectPath } from '../../catalogue/match/row-index.js';
import { nounFor, pluralize } from '../../pluralize.js';
import { quoted } from '../../document/document.js';
import type { Path } from '../../document/document.js';
import { hint } from '../../document/nearest.js';
import type { ManagedObject, Variable } from '../../model.js';

const MAX_OBJECTS = 200_000;
const MAX_VARIABLES = 1_000_000;

export interface ExistingObject extends ObjectPath {
  /** The variables by name. If several variables have the same name, the latest one. */
  readonly variables: ReadonlyMap<string, Variable>;
  readonly isLeaf: boolean;
}

interface ExistingTree {
  readonly objects: readonly ExistingObject[];
  /** False if the tree has more objects or variables than the limits allow. */
  readonly isComplete: boolean;
}

export function collectTree(root: ManagedObject): ExistingTree {
  const objects: ExistingObject[] = [];
  const waiting = [root];
  let variables = 0;
  for (let object = waiting.pop(); object !== undefined; object = waiting.pop()) {
    variables += object.variables.size;
    if (objects.length >= MAX_OBJECTS || variables > MAX_VARIABLES)
      return { objects, isComplete: false };
    objects.push({
      ...objectPath(root, object),
      variables: byName(object),
      isLeaf: object.children.size === 0,
    });
    waiting.push(...object.children);
  }
  return { objects, isComplete: true };
}

function byName({ variables }: ManagedObject): ReadonlyMap<string, Variable> {
  const latest = new Map<string, Variable>();
  for (const variable of variables)
    if ((latest.get(variable.name)?.id ?? -1) < variable.id) latest.set(variable.name, variable);
  return latest;
}

/** The sentence about a class without objects. It names the class ids and the paths, since either may be wrong. */
function unmatchedClass(
  { alias, classIds, paths }: CatalogueClass,
  published: ReadonlySet<string>,
): string {
  const places = paths.map(({ text }) => text).join(' or ');
  const ids = classIds.map((id) => `${id}${published.has(id) ? '' : hint(id, published)}`);
  return `no object matches ${quoted(alias)}, which selects class ${ids.join(' or ')} at ${places}`;
}

const classesOf = (objects: readonly ObjectPath[]): ReadonlySet<string> => {
  const classes = new Candidates();
  for (const { className } of objects) classes.add(className);
  return classes;
};

/** The maximum number of printed findings of one kind for a target. */
const MAX_LINES = 20;
const MAX_NAMES = 10;
/** The maximum number of known names to compare with an unknown name. */
const MAX_CANDIDATES = 5000;

/**
 * The first findings, and a line with the number of omitted findings.
 * @param what names the findings, in the plural
 */
export function limitLines(lines: readonly string[], what: string): readonly string[] {
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `and ${more} more ${what}`] : lines;
}

/** Joins names into one line: lists up to `MAX_NAMES` names, and states the number of omitted names. */
export function joinNames(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  const first = names.slice(0, MAX_NAMES).join(', ');
  return more > 0 ? `${first} and ${more} more` : first;
}

/** A bounded set of known names. */
export class Candidates extends Set<string> {
  override add(word: string): this {
    return this.size < MAX_CANDIDATES ? super.add(word) : this;
  }
}

const MAX_EXAMPLES = 3;

interface ClassFindings {
  /**
   * Lines about classes without objects. Empty if all tracked objects have rows, since objects of the other classes
   * may come later.
   */
  readonly unmatched: readonly string[];
  /** At most one line, about objects without rows. */
  readonly withoutRows: readonly string[];
}

/** A class of tracked objects for which the catalogue has no row. */
interface UnreadClass {
  readonly className: string;
  /** The path of one object of the class, below the root. */
  readonly example: string;
  objects: number;
  variables: number;
}

/** Finds classes without objects, and objects without rows. If a target selects classes, all its objects have rows. */
export function classFindings(
  { classes, source: { file } }: Catalogue,
  { rowIndex, tracks }: Filters,
  objects: readonly ExistingObject[],
): ClassFindings {
  const matched = new Set<string>();
  const kinds = new Map<string, UnreadClass>();
  for (const object of objects) {
    const found = rowIndex?.rowsFor(object) ?? [];
    for (const { classRows } of found) matched.add(classRows.alias);
    if (found.length === 0 && mayNeedRows(object) && tracks(object)) count(kinds, object);
  }
  if (kinds.size === 0) return { unmatched: [], withoutRows: [] };
  const published = classesOf(objects);
  const unmatched = classes
    .filter(({ alias }) => !matched.has(alias))
    .map((each) => `${file}: ${unmatchedClass(each, published)}`);
  const withoutRows = [...kinds.values()];
  const isHarmless =
    unmatched.length === 0 && withoutRows.every(({ variables }) => variables === 0);
  return {
    unmatched: limitLines(unmatched, 'classes without an object'),
    withoutRows: isHarmless ? [] : [withoutRowsLine(withoutRows)],
  };
}

/** Whether a row could read the object: it has variables, or it is a leaf below the root. */
const mayNeedRows = ({ seedPath, variables, isLeaf }: ExistingObject): boolean =>
  variables.size > 0 || (isLeaf && seedPath !== '');

function count(
  kinds: Map<string, UnreadClass>,
  { className, seedPath, variables }: ExistingObject,
): void {
  const kind = kinds.get(className) ?? { className, example: seedPath, objects: 0, variables: 0 };
  kinds.set(className, kind);
  kind.objects++;
  kind.variables += variables.size;
}

/**
 * The line about objects without rows. Names the classes with the most variables, each with the path of one object.
 */
function withoutRowsLine(kinds: readonly UnreadClass[]): string {
  const objects = kinds.reduce((sum, kind) => sum + kind.objects, 0);
  const variables = kinds.reduce((sum, kind) => sum + kind.variables, 0);
  const examples = kinds
    .toSorted((one, other) => other.variables - one.variables)
    .slice(0, MAX_EXAMPLES)
    .map(({ className, example }) => `${quoted(className)} at ${quoted(example || ROOT)}`);
  const more = kinds.length - examples.length;
  const rest = more > 0 ? ` and ${more} more ${nounFor(more, 'class', 'classes')}` : '';
  return `no row reads ${pluralize(objects, 'object')} with ${pluralize(variables, 'variable')}: ${examples.join(', ')}${rest}`;
}

/** A sentence about a value in the settings of a target, at a path such as `['classes', 0]` below the target. */
export interface Finding {
  readonly path: Path;
  readonly sentence: string;
}

/** Finds the classes, groups and seed paths that match no object. Checks each filter on its own. */
export function filterFindings(
  { classes, seedPathGroups, seedPaths }: FilterSettings,
  catalogue: Catalogue | undefined,
  objects: readonly ObjectPath[],
): readonly Finding[] {
  const found = objects.map(({ seedPath }) => segmentsOf(seedPath));
  const matchesNone = (prefixes: readonly string[]): boolean => {
    const compiled = prefixes.map(compileSeedPrefix);
    return !found.some((path) => compiled.some((begins) => begins(path)));
  };
  const groups = catalogue?.seedPathGroups;
  return [
    ...unmatchedIn('classes', classes, unmatchedAlias(catalogue, objects)),
    ...unmatchedIn('seed_path_groups', seedPathGroups, (name) =>
      matchesNone(groups?.get(name) ?? [])
        ? `no object is in the group ${quoted(name)}`
        : undefined,
    ),
    ...unmatchedIn('seed_paths', seedPaths, (path) => {
      if (!matchesNone([path])) return undefined;
      const near = hint(path, startsOf(found, segmentsOf(path).length));
      return `no object is at ${quoted(path)}${near}`;
    }),
  ];
}

/** The findings about the values of a list setting: one for each value for which `sentenceOf` returns a sentence. */
const unmatchedIn = (
  key: string,
  values: readonly string[],
  sentenceOf: (value: string) => string | undefined,
): readonly Finding[] =>
  values.flatMap((value, index) => {
    const sentence = sentenceOf(value);
    return sentence === undefined ? [] : [{ path: [key, index], sentence }];
  });

function unmatchedAlias(catalogue: Catalogue | undefined, objects: readonly ObjectPath[]) {
  const published = classesOf(objects);
  return (alias: string): string | undefined => {
    if (catalogue === undefined)
      return published.has(alias)
        ? undefined
        : `no object is of class ${quoted(alias)}${hint(alias, published)}`;
    const chosen = catalogue.classes.filter((each) => each.alias === alias);
    const rowIndex = indexRows({ classes: chosen });
    if (objects.some((object) => rowIndex.reads(object))) return undefined;
    return chosen.map((each) => unmatchedClass(each, published)).join('; ');
  };
}

/** The first `segments` path segments of each seed path. Omits paths with fewer segments. */
function startsOf(seedPaths: readonly (readonly string[])[], segments: number): Candidates {
  const starts = new Candidates();
  for (const path of seedPaths)
    if (path.length >= segments) starts.add(path.slice(0, segments).join('.'));
  return starts;
}
