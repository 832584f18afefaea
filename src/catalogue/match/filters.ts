// Compiles the filters of a target, and finds filter entries that match no object.
import { keyPath, quoted } from '../../document/document.js';
import type { Path } from '../../document/document.js';
import { hint } from '../../document/nearest.js';
import { Fault, catchFault } from '../../errors.js';
import type { Catalogue } from '../catalogue.js';
import { namesTaken } from '../names.js';
import { compilePathPattern, compileSeedPrefix, segmentsOf } from './patterns.js';
import type { LabelValues, PathPattern, SeedPrefix } from './patterns.js';
import { indexRows } from './row-index.js';
import type { ObjectPath, RowIndex } from './row-index.js';

/** Reports a problem with the value at `path` inside the target, such as `['classes', 0]`. */
type FilterReport = (path: Path, sentence: string) => void;

const refuse: FilterReport = (path, sentence) => {
  throw new Fault('CONFIG_INVALID', `${keyPath(path)}: ${sentence}`);
};

/** Returns the result of `compile`. If it throws a Fault, reports the Fault at `path`. */
const attempt = <T>(compile: () => T, path: Path, report: FilterReport): T | undefined =>
  catchFault(compile, ({ message }) => {
    report(path, message);
  });

export interface FilterSettings {
  readonly classes: readonly string[];
  readonly seedPathGroups: readonly string[];
  readonly seedPaths: readonly string[];
}

type Condition = (object: ObjectPath) => boolean;

export interface Filters {
  /** True if the target tracks the object. Other objects are not read, counted or emitted. */
  readonly tracks: (object: ObjectPath) => boolean;
  /** The setting that excludes an object; undefined for a tracked object. */
  readonly excludedBy: (object: ObjectPath) => FilterName | undefined;
  /** One condition for each entry of the filters. */
  readonly entries: readonly Condition[];
  /** The rows of the chosen classes, for the metric builder; undefined without a catalogue. */
  readonly rowIndex: RowIndex | undefined;
  /** The rows of all classes, whether the target chose them or not. */
  readonly catalogued: () => RowIndex | undefined;
}

/** The name of a filter. `seed_paths` includes `seed_path_groups`. */
type FilterName = 'classes' | 'seed_paths';

/**
 * Compiles the filters of a target. Without filters, the target tracks every object under the root, even if no row
 * reads the object.
 * @param report called with each unknown alias or group and each bad seed path
 * @throws Fault CONFIG_INVALID for the first problem, if `report` is omitted
 */
export function compileFilters(
  catalogue: Catalogue | undefined,
  settings: FilterSettings,
  report: FilterReport = refuse,
): Filters {
  const chosen = chooseClasses(catalogue, settings.classes, report);
  const prefixes = compilePrefixes(catalogue, settings, report);
  const inPrefix = prefixCondition(prefixes?.flatMap((entry) => entry.prefixes));
  const rowIndex = chosen === undefined ? undefined : indexRows({ classes: chosen }, inPrefix);
  const inClass = settings.classes.length === 0 ? always : classCondition(settings, rowIndex);
  const classEntries = settings.classes.map((alias): Condition => {
    const own = chosen?.filter((each) => each.alias === alias);
    return classCondition({ classes: [alias] }, own && indexRows({ classes: own }, () => true));
  });
  const prefixEntries = (prefixes ?? []).map(({ prefixes: own }): Condition => {
    const isBelow = prefixCondition(own);
    return ({ seedPath }) => isBelow(seedPath);
  });
  return {
    tracks: (object) => inPrefix(object.seedPath) && inClass(object),
    excludedBy: (object) => {
      if (!inPrefix(object.seedPath)) return 'seed_paths';
      return inClass(object) ? undefined : 'classes';
    },
    entries: [...classEntries, ...prefixEntries],
    rowIndex,
    catalogued: () => {
      if (catalogue === undefined || settings.classes.length === 0) return rowIndex;
      return indexRows(catalogue, inPrefix);
    },
  };
}

const always: Condition = () => true;

function classCondition(
  { classes }: Pick<FilterSettings, 'classes'>,
  rowIndex: RowIndex | undefined,
): Condition {
  if (rowIndex !== undefined) return (object) => rowIndex.reads(object);
  const ids = new Set(classes);
  return ({ className }) => ids.has(className);
}

function prefixCondition(
  prefixes: readonly SeedPrefix[] | undefined,
): (seedPath: string) => boolean {
  if (prefixes === undefined) return () => true;
  return (seedPath) => {
    const segments = segmentsOf(seedPath);
    return prefixes.some((begins) => begins(segments));
  };
}

function chooseClasses(
  catalogue: Catalogue | undefined,
  aliases: readonly string[],
  report: FilterReport,
): Catalogue['classes'] | undefined {
  // Without a catalogue, aliases are names of classes in the publisher's segment, which is not known here.
  if (catalogue === undefined || aliases.length === 0) return catalogue?.classes;
  const known = catalogue.classes.map(({ alias }) => alias);
  const unknown = unknownIn('class alias', catalogue, known);
  for (const [index, alias] of aliases.entries())
    if (!known.includes(alias)) report(['classes', index], unknown(alias));
  return catalogue.classes.filter(({ alias }) => aliases.includes(alias));
}

/** The prefixes of one filter entry: a single seed path, or all seed paths of a group. */
interface PrefixEntry {
  readonly prefixes: readonly SeedPrefix[];
}

/** Compiles groups and seed paths; undefined if there are neither groups nor seed paths. */
function compilePrefixes(
  catalogue: Catalogue | undefined,
  { seedPathGroups, seedPaths }: FilterSettings,
  report: FilterReport,
): readonly PrefixEntry[] | undefined {
  if (seedPathGroups.length === 0 && seedPaths.length === 0) return undefined;
  const groups = catalogue?.seedPathGroups ?? new Map<string, readonly string[]>();
  const unknown = unknownIn('filter group', catalogue, [...groups.keys()]);
  const entries: PrefixEntry[] = [];
  for (const [index, name] of seedPathGroups.entries()) {
    const group = groups.get(name);
    if (group === undefined) report(['seed_path_groups', index], unknown(name));
    entries.push({ prefixes: (group ?? []).map(compileSeedPrefix) });
  }
  for (const [index, text] of seedPaths.entries()) {
    const prefix = attempt(() => compileSeedPrefix(text), ['seed_paths', index], report);
    entries.push({ prefixes: prefix === undefined ? [] : [prefix] });
  }
  return entries;
}

/** Returns a function that explains why a name is unknown. It joins `known` only once, since the list may be long. */
function unknownIn(
  what: string,
  catalogue: Catalogue | undefined,
  known: readonly string[],
): (name: string) => string {
  if (catalogue === undefined)
    return (name) =>
      `found ${quoted(name)}, but no catalogue defines a ${what} for the application, allowed: published class ids, and seed_paths`;
  const all = known.length === 0 ? 'none' : known.join(', ');
  const allowed = `, allowed for the application ${catalogue.app}: ${all}`;
  return (name) => `found ${quoted(name)}${hint(name, known)}${allowed}`;
}

/** The maximum number of filter entries to check, since each entry is tested with each object. */
const MAX_ENTRIES = 256;

export class FilterCoverage {
  readonly #unmatched: Set<(object: ObjectPath) => boolean>;

  constructor({ entries }: Pick<Filters, 'entries'>) {
    this.#unmatched = new Set(entries.slice(0, MAX_ENTRIES));
  }

  /** Number of entries of `classes`, `seed_path_groups` and `seed_paths` that matched no object. */
  get unmatched(): number {
    return this.#unmatched.size;
  }

  /** Marks the entries that match a tracked object as matched. */
  addObject(object: ObjectPath): void {
    for (const matches of this.#unmatched) if (matches(object)) this.#unmatched.delete(matches);
  }
}

/** The rows of a catalogue, and the names that metrics of variables without a row must not use. */
export interface Uncatalogued {
  /** The rows of all classes, whether the target chose them or not. */
  readonly rowIndex: RowIndex;
  /** The names that the catalogue's metrics and their series occupy. */
  readonly taken: ReadonlySet<string>;
}

/** Returns undefined if the application has no catalogue. */
export function uncataloguedIn(
  catalogue: Catalogue | undefined,
  { catalogued }: Pick<Filters, 'catalogued'>,
): Uncatalogued | undefined {
  const rowIndex = catalogued();
  if (catalogue === undefined || rowIndex === undefined) return undefined;
  return { rowIndex, taken: new Set([...catalogue.families.values()].flatMap(namesTaken)) };
}

/** Returns the labels that `path_labels` gives to the object at a seed path. */
export type PathLabels = (seedPath: string) => LabelValues;

/** The label names that the exporter itself gives to series without a row. */
const TAKEN: readonly string[] = ['object', 'value'];

const NONE: LabelValues = {};

/**
 * Compiles `path_labels`. The first pattern that fits an object's path gives its labels. A path that is shorter than
 * the pattern gets the labels of its own segments; a longer path gets all labels of the pattern.
 * @param report called with each pattern that is invalid
 * @throws Fault CONFIG_INVALID for the first invalid pattern, if `report` is omitted
 */
export function compilePathLabels(
  patterns: readonly string[],
  report: FilterReport = refuse,
): PathLabels {
  const compiled = patterns.flatMap(
    (text, index) => attempt(() => labelPattern(text), ['path_labels', index], report) ?? [],
  );
  if (compiled.length === 0) return () => NONE;
  return (seedPath) => {
    const segments = segmentsOf(seedPath);
    for (const pattern of compiled) {
      const labels = pattern.along(segments);
      if (labels !== undefined) return labels;
    }
    return NONE;
  };
}

function labelPattern(text: string): PathPattern {
  const pattern = compilePathPattern(text);
  if (pattern.labelNames.length === 0)
    throw new Fault(
      'CONFIG_INVALID',
      `${quoted(text)} has no {label}, allowed: names separated by dots, at least one of them a {label}`,
    );
  const taken = pattern.labelNames.find((label) => TAKEN.includes(label));
  if (taken !== undefined)
    throw new Fault(
      'CONFIG_INVALID',
      `the labels ${TAKEN.join(' and ')} are reserved for series without a catalogue row`,
    );
  return pattern;
}
