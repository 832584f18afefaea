// Finds the rows for an object by its path.
import type { ManagedObject } from '../../model.js';
import type { Catalogue } from '../catalogue.js';
import type { CatalogueClass } from '../catalogue-class.js';
import type { RowInput, Row } from '../row.js';
import { childPattern, segmentsOf } from './patterns.js';
import type { LabelValues, PathPattern } from './patterns.js';

/** The class of an object, and its path below a root. */
export interface ObjectPath {
  readonly className: string;
  /** The object's id without the root's id and the dot; empty for the root itself. */
  readonly seedPath: string;
  /** The class of the ancestor at a seed path ('' is the root); undefined when there is none. */
  readonly ancestor: (seedPath: string) => string | undefined;
}

/**
 * Returns the path of an object below a root, or its whole id if the id does not begin with the id of the root. An object
 * with the id of the root has its path: a format may divide an object by labels.
 */
export function objectPath(root: ManagedObject, object: ManagedObject): ObjectPath {
  const prefix = `${root.name}.`;
  const pathOf = (one: ManagedObject): string => {
    if (one === root || one.name === root.name) return '';
    return one.name.startsWith(prefix) ? one.name.slice(prefix.length) : one.name;
  };
  const ancestor = (seedPath: string): string | undefined => {
    for (let above = object.parent; above !== undefined; above = above.parent) {
      if (pathOf(above) === seedPath) return above.className;
      if (above === root) return undefined;
    }
    return undefined;
  };
  return { className: object.className, seedPath: pathOf(object), ancestor };
}

export interface RowMatch {
  readonly row: Row;
  readonly input: RowInput;
  /** The label that the pattern captures from the variable's name; empty without a pattern. */
  readonly nameLabels: LabelValues;
}

/** The rows of one class for objects at one path. */
export interface ClassRows {
  readonly alias: string;
  /** Whether variables that no row reads are shown as their publisher describes them. */
  readonly isDescribed: boolean;
  /** All rows, in the order of the file. */
  readonly rows: readonly Row[];
  /** The rows that show the state of the object itself. */
  readonly stateRows: readonly Row[];
  /** The rows that read the variable of this name, in the order of the file; usually none. */
  matchesOf(variable: string): readonly RowMatch[];
}

const NO_MATCHES: readonly RowMatch[] = [];

function compileClassRows(alias: string, rows: readonly Row[], isDescribed = false): ClassRows {
  const byName = new Map<string, RowMatch[]>();
  const patterned: RowMatch[] = [];
  for (const row of rows)
    for (const input of row.inputs) {
      const match = { row, input, nameLabels: {} };
      if (input.pattern !== undefined) patterned.push(match);
      else {
        const matches = byName.get(input.variable);
        if (matches !== undefined) matches.push(match);
        else byName.set(input.variable, [match]);
      }
    }

  const matchesOf = (variable: string): readonly RowMatch[] => {
    const exact = byName.get(variable) ?? NO_MATCHES;
    if (patterned.length === 0) return exact;
    return [...exact, ...patterned.flatMap((match) => patternMatch(match, variable))];
  };
  const stateRows = rows.filter(({ ofState }) => ofState !== undefined);
  return { alias, isDescribed, rows, stateRows, matchesOf };
}

function patternMatch(match: RowMatch, variable: string): readonly RowMatch[] {
  const { row, input } = match;
  const { pattern } = input;
  const value = pattern?.capture(variable);
  if (pattern === undefined || value === undefined) return NO_MATCHES;
  return [{ row, input, nameLabels: { [pattern.label]: value } }];
}

/** The rows of a class that apply to an object, and the labels from its path. */
export interface ObjectRows {
  readonly classRows: ClassRows;
  readonly labels: LabelValues;
}

export interface RowIndex {
  /** The number of rows that read variables. */
  readonly rowsWithInput: number;
  /** The rows for an object: one entry for each class with rows that read the object. */
  rowsFor(object: ObjectPath): readonly ObjectRows[];
  /** Whether there are rows for objects of a class, at any path. */
  hasClass(className: string): boolean;
  reads(object: ObjectPath): boolean;
  /** The rows that read objects below `object`, for each class that selects `object`. */
  rowsBelow(object: ObjectPath): readonly ClassRows[];
}

/** The rows of one class that read objects at one path below the object of the class. */
interface RowsAtPath {
  readonly patterns: readonly PathPattern[];
  readonly at: string;
  /** The number of levels from the object of the class down to the objects at the path `at`. */
  readonly depth: number;
  /** The class ids that the ancestor `depth` levels up may have; undefined if `at` is empty. */
  readonly parentIds: readonly string[] | undefined;
  readonly classRows: ClassRows;
}

const NONE: readonly ObjectRows[] = [];

/** The rows of `RowsAtPath`, with patterns that match the object of the class, not the object that is read. */
interface RowsBelowClass {
  readonly patterns: readonly PathPattern[];
  readonly at: string;
  readonly classRows: ClassRows;
}

/**
 * Indexes a catalogue by class id.
 * @param isIncluded whether an object at a seed path may be tracked at all
 */
export function indexRows(
  catalogue: Pick<Catalogue, 'classes'>,
  isIncluded: (seedPath: string) => boolean = () => true,
): RowIndex {
  const byClass = new Map<string, RowsAtPath[]>();
  const belowByClass = new Map<string, RowsBelowClass[]>();
  for (const owner of catalogue.classes)
    for (const [classIds, rows] of rowsByClassIds(owner)) {
      for (const id of new Set(classIds)) byClass.set(id, [...(byClass.get(id) ?? []), rows]);
      const { parentIds = [], at, classRows } = rows;
      const below = { patterns: owner.paths, at, classRows };
      for (const id of new Set(parentIds))
        belowByClass.set(id, [...(belowByClass.get(id) ?? []), below]);
    }

  const rowsFor = (object: ObjectPath): readonly ObjectRows[] => {
    const candidates = byClass.get(object.className);
    if (candidates === undefined) return NONE;
    const segments = segmentsOf(object.seedPath);
    return candidates.flatMap((rows) => matchAt(rows, object, segments) ?? []);
  };
  const rowsBelow = ({ className, seedPath }: ObjectPath): readonly ClassRows[] => {
    const segments = segmentsOf(seedPath);
    return (belowByClass.get(className) ?? [])
      .filter(({ patterns }) => firstMatch(patterns, segments) !== undefined)
      .filter(({ at }) => isIncluded(seedPath === '' ? at : `${seedPath}.${at}`))
      .map(({ classRows }) => classRows);
  };
  const rows = catalogue.classes.flatMap((owner) => owner.rows);
  return {
    rowsWithInput: rows.filter(({ inputs }) => inputs.length > 0).length,
    rowsFor,
    hasClass: (className) => byClass.has(className),
    reads: (object) => rowsFor(object).length > 0,
    rowsBelow,
  };
}

function rowsByClassIds(owner: CatalogueClass): (readonly [readonly string[], RowsAtPath])[] {
  const rowsAt = new Map<string, Row[]>();
  for (const row of owner.rows) {
    const key = JSON.stringify([row.at, row.classId]);
    rowsAt.set(key, [...(rowsAt.get(key) ?? []), row]);
  }
  // A class that shows variables without a row tracks its objects even if it has no rows at all.
  const own = JSON.stringify(['', undefined]);
  if (owner.isDescribed && !rowsAt.has(own)) rowsAt.set(own, []);
  return [...rowsAt.values()].map((rows) => {
    const { at = '', classId } = rows[0] ?? {};
    const isDescribed = owner.isDescribed && classId === undefined;
    const rowsAtPath = {
      patterns: owner.paths.map((path) => childPattern(path, at)),
      at,
      depth: segmentsOf(at).length,
      parentIds: classId === undefined ? undefined : owner.classIds,
      classRows: compileClassRows(owner.alias, rows, isDescribed),
    };
    return [classId === undefined ? owner.classIds : [classId], rowsAtPath] as const;
  });
}

function matchAt(
  { patterns, depth, parentIds, classRows }: RowsAtPath,
  object: ObjectPath,
  segments: readonly string[],
): ObjectRows | undefined {
  const labels = firstMatch(patterns, segments);
  if (labels === undefined) return undefined;
  if (parentIds !== undefined) {
    const parent = object.ancestor(segments.slice(0, segments.length - depth).join('.'));
    if (parent === undefined || !parentIds.includes(parent)) return undefined;
  }
  return { classRows, labels };
}

function firstMatch(
  patterns: readonly PathPattern[],
  segments: readonly string[],
): LabelValues | undefined {
  for (const pattern of patterns) {
    const labels = pattern.matchSegments(segments);
    if (labels !== undefined) return labels;
  }
  return undefined;
}
