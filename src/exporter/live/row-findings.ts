// Compares the rows of a catalogue with the existing objects, and finds the metrics of the objects.
import type { Catalogue } from '../../catalogue/catalogue.js';
import type { Uncatalogued } from '../../catalogue/match/filters.js';
import type { ClassRows, RowIndex } from '../../catalogue/match/row-index.js';
import type { RowInput, Row } from '../../catalogue/row.js';
import { quoted } from '../../document/document.js';
import { hint } from '../../document/nearest.js';
import { NamedVariable } from '../../exposition/read/highlight.js';
import { isVariable, nodesBelow } from '../../exposition/read/tree-walk.js';
import { DeclaredRows } from '../../exposition/rows/declared-rows.js';
import type { FamilyMetadata, ManagedObject, Variable } from '../../model.js';
import { pluralize } from '../../pluralize.js';
import { Candidates, limitLines, joinNames } from './findings.js';
import type { ExistingObject, Finding } from './findings.js';

/** What messages call the variables that `SharedNames` finds, in the plural. */
export const SHARING = 'variables that share the name of a metric';

export interface DescribedFamilies {
  readonly families: ReadonlySet<FamilyMetadata>;
  /** A line for each pair of variables of one object that would become the same series. */
  readonly shared: readonly string[];
}

/** Finds variables of one object that would become the same series. The exporter shows only one of them. */
class SharedNames {
  readonly #lines = new Set<string>();
  #object: ManagedObject | undefined;
  /** The variables of the current object, by the name and labels of their series. */
  #variables = new Map<string, Variable>();

  get lines(): readonly string[] {
    return [...this.#lines];
  }

  /** Adds a variable. All variables of one object must be added in sequence. */
  add(variable: Variable, { name }: FamilyMetadata, labels = ''): void {
    const { object } = variable;
    if (object !== this.#object) {
      this.#object = object;
      this.#variables = new Map();
    }
    const series = `${name} ${labels}`;
    const other = this.#variables.get(series);
    if (other === undefined) this.#variables.set(series, variable);
    else
      this.#lines.add(
        `class ${quoted(object.className)}: the variables ${quoted(other.name)} and ${quoted(variable.name)} both become ${name}, so one is left out: rename one of them`,
      );
  }
}

/**
 * Finds the self-described metrics of objects: those that publishers describe, not a catalogue.
 * @param uncatalogued limits the search to variables without a row
 */
export function describedFamilies(
  app: string,
  objects: readonly ExistingObject[],
  uncatalogued?: Uncatalogued,
): DescribedFamilies {
  const described = new DeclaredRows(app, uncatalogued?.taken);
  const families = new Set<FamilyMetadata>();
  const shared = new SharedNames();
  for (const object of objects) {
    const sets = uncatalogued?.rowIndex.rowsFor(object).map(({ classRows }) => classRows) ?? [];
    for (const variable of object.variables.values())
      if (sets.every((set) => !set.isDescribed && set.matchesOf(variable.name).length === 0)) {
        const stated = described.declaredMetric(variable);
        const { family } = described.rowFor(variable, stated);
        families.add(family);
        shared.add(variable, family, JSON.stringify(stated?.labels));
      }
  }
  return { families, shared: shared.lines };
}

interface RowFindings {
  readonly lines: readonly string[];
  /** The names of the variables that no row reads, by catalogue class. */
  readonly unread: ReadonlyMap<string, ReadonlySet<string>>;
  /** The metrics of the existing objects. */
  readonly families: ReadonlySet<FamilyMetadata>;
}

/** The variables of all objects to which one set of rows applies. */
interface ReadVariables {
  readonly names: Candidates;
  /** By row: the names of the existing variables that the row reads. */
  readonly found: Map<Row, Set<string>>;
}

/** Compares the rows with the tracked objects. Ignores classes without objects. */
export function rowFindings(
  { app, source: { file } }: Catalogue,
  rowIndex: RowIndex,
  objects: readonly ExistingObject[],
): RowFindings {
  const bySet = new Map<ClassRows, ReadVariables>();
  const families = new Set<FamilyMetadata>();
  const unread = new Map<string, Set<string>>();
  const mistyped = new Set<string>();
  const described = new DeclaredRows(app);
  const shared = new SharedNames();

  const add = (variable: Variable, sets: readonly ClassRows[]): void => {
    const { name, type } = variable;
    let isRead = false;
    for (const set of sets) {
      const variables = bySet.get(set);
      variables?.names.add(name);
      for (const { row } of set.matchesOf(name)) {
        isRead = true;
        if (variables !== undefined) addTo(variables.found, row, name);
        if (inputOf(row, name)?.types.includes(type) === true) families.add(row.family);
        else mistyped.add(mistypedLine(row, variable, file));
      }
    }
    const [first] = sets;
    if (!isRead && sets.some(({ isDescribed }) => isDescribed)) {
      const { family } = described.rowFor(variable);
      families.add(family);
      shared.add(variable, family);
      return;
    }
    if (!isRead && first !== undefined) addTo(unread, first.alias, name);
  };

  for (const object of objects) {
    const sets = rowIndex.rowsFor(object).map(({ classRows }) => classRows);
    for (const set of sets) {
      if (!bySet.has(set)) bySet.set(set, { names: new Candidates(), found: new Map() });
      for (const { family } of set.stateRows) families.add(family);
    }
    if (sets.length > 0) for (const variable of object.variables.values()) add(variable, sets);
  }
  const unmatched = [...bySet].flatMap(([set, variables]) => unmatchedRows(set, variables, file));
  return {
    lines: [
      ...limitLines(unmatched, 'rows without a variable'),
      ...limitLines([...mistyped], 'variables that a row cannot show'),
      ...limitLines(shared.lines, SHARING),
    ],
    unread,
    families,
  };
}

/** Lines about variables that no row reads, one for each class. */
export function unreadLines({ unread }: Pick<RowFindings, 'unread'>): readonly string[] {
  const lines = [...unread].map(
    ([alias, names]) =>
      `class ${quoted(alias)}: variables without a row: ${joinNames([...names].sort())}`,
  );
  return limitLines(lines, 'classes with variables that have no row');
}

/** A line with the number of variables that no row of a built-in catalogue reads; empty if the number is 0. */
export function unreadCount(
  { unread }: Pick<RowFindings, 'unread'>,
  app: string,
): readonly string[] {
  const count = [...unread.values()].reduce((sum, names) => sum + names.size, 0);
  if (count === 0) return [];
  const have = count === 1 ? 'has' : 'have';
  return [
    `${pluralize(count, 'variable')} ${have} no row in the built-in catalogue of ${app}; show_uncatalogued = true shows ${count === 1 ? 'it' : 'them'}`,
  ];
}

/** Lines about variables that a row reads but that no object has. Each line names the nearest existing variable. */
function unmatchedRows(
  { alias, rows }: ClassRows,
  { names, found }: ReadVariables,
  file: string,
): string[] {
  return rows.flatMap((row) => {
    const has = found.get(row);
    const unmatched = row.inputs.filter(({ variable, pattern }) =>
      pattern === undefined ? has?.has(variable) !== true : has === undefined,
    );
    return unmatched.map(
      ({ variable: name }) =>
        `${positionOf(row, file)}: no object of class ${quoted(alias)} has the variable ${quoted(name)}${hint(name, names)}`,
    );
  });
}

const mistypedLine = (row: Row, { name, type }: Variable, file: string): string =>
  `${positionOf(row, file)}: the variable ${quoted(name)} has type ${type}, allowed: ${inputOf(row, name)?.types.join(', ') ?? 'none'}`;

/** The input of a row that reads a variable of this name. */
const inputOf = ({ inputs }: Row, name: string): RowInput | undefined =>
  inputs.find(({ variable, pattern }) => pattern !== undefined || variable === name);

const positionOf = ({ where, family }: Row, file: string): string =>
  `${file}: ${where} (${family.name})`;

function addTo<K>(map: Map<K, Set<string>>, key: K, word: string): void {
  const words = map.get(key) ?? new Set();
  map.set(key, words.add(word));
}

/** A finding if the path of the setting `variable` leads to no variable; no finding for an empty path. */
export function variableFinding(
  root: ManagedObject,
  path: string,
  objects: readonly ExistingObject[],
): readonly Finding[] {
  if (path === '') return [];
  const named = new NamedVariable(root, path);
  for (const item of nodesBelow(root))
    if (isVariable(item)) named.addVariable(item);
    else named.addObject(item);
  if (named.find() !== undefined) return [];
  const sentence = `no variable is at ${quoted(path)}${hint(path, pathsLike(path, objects))}`;
  return [{ path: ['variable'], sentence }];
}

/** The variable paths that are about as long as `path`. Much longer or shorter paths are too different for `hint`. */
function pathsLike(path: string, objects: readonly ExistingObject[]): Candidates {
  const paths = new Candidates();
  for (const { seedPath, variables } of objects)
    for (const name of variables.keys()) {
      const other = seedPath === '' ? name : `${seedPath}.${name}`;
      if (Math.abs(other.length - path.length) <= 2) paths.add(other);
    }
  return paths;
}
