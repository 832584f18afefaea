// Finds the rows that apply to an object, through an index, since objects come and go all day.
import type { Catalogue } from '../catalogue.js';
import type { CatalogueClass } from '../catalogue-class.js';
import { childPattern } from './path-pattern.js';
import type { Labels, PathPattern } from './path-pattern.js';
import type { PlacedObject } from './placed-object.js';
import { compileRuleSet } from './rule-set.js';
import type { RuleSet } from './rule-set.js';
import { segmentsOf } from './segment.js';
import type { Row } from '../row.js';

/** What applies to one object: shared rows, and the labels that its own path gave. */
export interface ObjectRules {
  readonly set: RuleSet;
  readonly labels: Labels;
}

export interface Rules {
  /** How many rows read variables. */
  readonly readingRows: number;
  /** The rows for an object, one entry for each class that reads it; empty if none does. */
  rulesFor(object: PlacedObject): readonly ObjectRules[];
  /** Whether there are rows for objects of that class, at whatever place. */
  hasClass(className: string): boolean;
  /** Whether any row reads the object. */
  reads(object: PlacedObject): boolean;
  /** The rows for tracked objects below this object, if it is of their class. */
  rulesBelow(object: PlacedObject): readonly RuleSet[];
}

/** The rows of one class that read objects at one place. */
interface Place {
  readonly patterns: readonly PathPattern[];
  readonly at: string;
  /** The number of segments of `at`, the distance up to the object of the class. */
  readonly depth: number;
  /** The allowed classes of the object of the class; undefined if that is the object itself. */
  readonly parentIds: readonly string[] | undefined;
  readonly set: RuleSet;
}

const NONE: readonly ObjectRules[] = [];

/** The rows of one class that read objects below its own, with the path from one to the other. */
interface Below {
  readonly patterns: readonly PathPattern[];
  readonly at: string;
  readonly set: RuleSet;
}

/**
 * Indexes a catalogue by class id.
 * @param follows whether an object at a seed path may be tracked at all
 */
export function compileRules(
  catalogue: Pick<Catalogue, 'classes'>,
  follows: (seedPath: string) => boolean = () => true,
): Rules {
  const byClass = new Map<string, Place[]>();
  const belowByClass = new Map<string, Below[]>();
  for (const owner of catalogue.classes)
    for (const [classIds, place] of placesOf(owner)) {
      for (const id of new Set(classIds)) byClass.set(id, [...(byClass.get(id) ?? []), place]);
      const { parentIds = [], at, set } = place;
      const below = { patterns: owner.paths, at, set };
      for (const id of new Set(parentIds))
        belowByClass.set(id, [...(belowByClass.get(id) ?? []), below]);
    }

  const rulesFor = (object: PlacedObject): readonly ObjectRules[] => {
    const places = byClass.get(object.className);
    if (places === undefined) return NONE;
    const segments = segmentsOf(object.seedPath);
    return places.flatMap((place) => rulesAt(place, object, segments) ?? []);
  };
  const rulesBelow = ({ className, seedPath }: PlacedObject): readonly RuleSet[] => {
    const segments = segmentsOf(seedPath);
    return (belowByClass.get(className) ?? [])
      .filter(({ patterns }) => firstMatch(patterns, segments) !== undefined)
      .filter(({ at }) => follows(seedPath === '' ? at : `${seedPath}.${at}`))
      .map(({ set }) => set);
  };
  const rows = catalogue.classes.flatMap((owner) => owner.rows);
  return {
    readingRows: rows.filter(({ reads }) => reads.length > 0).length,
    rulesFor,
    hasClass: (className) => byClass.has(className),
    reads: (object) => rulesFor(object).length > 0,
    rulesBelow,
  };
}

function placesOf(owner: CatalogueClass): (readonly [readonly string[], Place])[] {
  const rowsAt = new Map<string, Row[]>();
  for (const row of owner.rows) {
    const key = JSON.stringify([row.at, row.classId]);
    rowsAt.set(key, [...(rowsAt.get(key) ?? []), row]);
  }
  // A class that shows what its publisher describes does so without any row.
  const own = JSON.stringify(['', undefined]);
  if (owner.isDescribed && !rowsAt.has(own)) rowsAt.set(own, []);
  return [...rowsAt.values()].map((rows) => {
    const { at = '', classId } = rows[0] ?? {};
    const isDescribed = owner.isDescribed && classId === undefined;
    const place = {
      patterns: owner.paths.map((path) => childPattern(path, at)),
      at,
      depth: segmentsOf(at).length,
      parentIds: classId === undefined ? undefined : owner.classIds,
      set: compileRuleSet(owner.alias, rows, isDescribed),
    };
    return [classId === undefined ? owner.classIds : [classId], place] as const;
  });
}

function rulesAt(
  { patterns, depth, parentIds, set }: Place,
  object: PlacedObject,
  segments: readonly string[],
): ObjectRules | undefined {
  const labels = firstMatch(patterns, segments);
  if (labels === undefined) return undefined;
  if (parentIds !== undefined) {
    const parent = object.ancestor(segments.slice(0, segments.length - depth).join('.'));
    if (parent === undefined || !parentIds.includes(parent)) return undefined;
  }
  return { set, labels };
}

function firstMatch(
  patterns: readonly PathPattern[],
  segments: readonly string[],
): Labels | undefined {
  for (const pattern of patterns) {
    const labels = pattern.matchSegments(segments);
    if (labels !== undefined) return labels;
  }
  return undefined;
}
