// Reads the rows of one catalogue file, each by its kind.
import { keyPath } from '../../document/document.js';
import type { Path } from '../../document/document.js';
import type { FamilyMetadata, MetricType } from '../../model.js';
import { oneOf, text } from '../../rules/rule.js';
import type { RowKind } from '../kinds/row-kind.js';
import { nameProblems, namesTaken } from '../names.js';
import type { Row } from '../row.js';
import {
  ascending,
  childPath,
  conversionIn,
  labelPairs,
  labelVariables,
  stateNames,
} from './table.js';
import type { Table } from './table.js';

const TYPES: readonly MetricType[] = [
  'counter',
  'gauge',
  'histogram',
  'summary',
  'info',
  'stateset',
  'unknown',
];
const metricType = oneOf(...TYPES);
const helpText = text(/\S/, 'a string that is not empty');

/** The metrics of a file. The first row of a metric defines its type, unit and help; later rows must agree. */
export class Families {
  readonly #byName = new Map<string, FamilyMetadata>();
  readonly #owners = new Map<string, string>();
  /**
   * Metrics whose first row has no valid type. Later rows of such a metric are not checked, since each would report
   * the same problem again.
   */
  readonly #broken = new Set<string>();

  constructor(readonly app: string) {}

  get all(): ReadonlyMap<string, FamilyMetadata> {
    return this.#byName;
  }

  /** The metadata of the metric that a row names. If they are invalid, adds a problem and returns undefined. */
  of(row: Table): FamilyMetadata | undefined {
    const name = row.text('name');
    row.needs({ name: 'the name of a metric' });
    if (name === undefined || this.#broken.has(name)) return undefined;
    const known = this.#byName.get(name);
    if (known === undefined) return this.#first(name, row);
    for (const key of ['type', 'unit', 'help'] as const)
      if (row.has(key) && row.text(key) !== known[key])
        row.report(
          key,
          `differs from the first row of ${name}, where it is ${JSON.stringify(known[key])}`,
        );
    return known;
  }

  #first(name: string, row: Table): FamilyMetadata | undefined {
    row.needs({ type: 'the type of the metric', help: 'the meaning of the metric' });
    const type = row.read('type', metricType);
    const help = row.read('help', helpText)?.trim() ?? '';
    const unit = row.text('unit') ?? '';
    for (const problem of nameProblems({ name, type, unit }, this.app)) row.report('name', problem);
    if (type === undefined) {
      this.#broken.add(name);
      return undefined;
    }
    const metadata = { name, type, unit, help };
    for (const taken of new Set(namesTaken(metadata))) this.#take(taken, name, row);
    this.#byName.set(name, metadata);
    return metadata;
  }

  #take(taken: string, name: string, row: Table): void {
    const owner = this.#owners.get(taken);
    if (owner !== undefined) row.report('name', `${name} and ${owner} both need the name ${taken}`);
    else this.#owners.set(taken, name);
  }
}

const COMMON = [
  ...['name', 'type', 'unit', 'help', 'at', 'class_id', 'static', 'personal', 'src', 'note'],
];

const keysOf = ({ must, may = [] }: RowKind): readonly string[] => [...Object.keys(must), ...may];

export class RowParser {
  /** The position of each row in the file, as a key path. */
  readonly paths = new Map<Row, Path>();
  readonly #families: Families;
  readonly #kinds: readonly RowKind[];
  readonly #known: readonly string[];

  /** @param kinds in order of precedence: the kind of a row is the first that matches it */
  constructor(families: Families, kinds: readonly RowKind[]) {
    this.#families = families;
    this.#kinds = kinds;
    this.#known = [...new Set([...COMMON, ...kinds.flatMap(keysOf)])];
  }

  /** Parses the row in `table`. If it has problems, reports them and returns undefined. */
  parse(table: Table): Row | undefined {
    const before = table.problems.count;
    table.only(this.#known);
    checkRemarks(table);
    const family = this.#families.of(table);
    if (family === undefined) {
      checkCommonValues(table);
      return undefined;
    }
    const kind = this.#kinds.find((each) => each.matches(table, family.type));
    if (kind === undefined) return undefined;
    this.#checkKeys(table, kind, family);
    const row = kind.read(table, fieldsOf(table, family));
    if (table.problems.count > before) return undefined;
    this.paths.set(row, table.path);
    return row;
  }

  /** Reports missing keys that the kind requires, and keys that it does not allow. */
  #checkKeys(table: Table, kind: RowKind, { type, name }: FamilyMetadata): void {
    const { types, must } = kind;
    if (!types.includes(type))
      table.problems.add(
        table.path,
        `${name} has type ${type}, but the keys of its row are for type ${types.join(' or ')}`,
      );
    table.needs(must);
    const allowed = [...COMMON, ...keysOf(kind)];
    for (const key of table.keys)
      if (this.#known.includes(key) && !allowed.includes(key))
        table.report(
          key,
          `is not allowed for ${name}, because its row has ${Object.keys(must).join(', ')}`,
        );
    if (table.has('at') !== table.has('class_id'))
      table.problems.add(table.path, '"at" and "class_id" must be given together');
  }
}

/** Checks a row of unknown kind: only the keys whose rules are the same for every kind. */
function checkCommonValues(table: Table): void {
  labelPairs(table, 'static');
  labelVariables(table, 'labels_from');
  childPath(table, 'at');
  conversionIn(table, 'scale');
  ascending(table, 'buckets');
  ascending(table, 'quantiles', 0, 1);
  stateNames(table, 'states');
}

const fieldsOf = (table: Table, family: FamilyMetadata) => ({
  family,
  labels: Object.fromEntries(labelPairs(table, 'static')),
  at: childPath(table, 'at'),
  classId: table.text('class_id'),
  where: keyPath(table.path),
  isPersonal: table.flag('personal') ?? false,
});

/** Checks that `src` and `note`, which are only for readers of the file, are strings. */
export function checkRemarks(table: Table): void {
  table.text('src');
  table.text('note');
}
