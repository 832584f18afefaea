// Reports conflicts between the rows of a catalogue.
import type { Path } from '../../document/document.js';
import type { CatalogueClass } from '../catalogue-class.js';
import { childPattern, patternsOverlap } from '../match/patterns.js';
import type { PathPattern } from '../match/patterns.js';
import type { Problems } from '../../rules/problems.js';
import { ownLabelsOf } from '../row.js';
import type { Row } from '../row.js';

interface Placed {
  readonly row: Row;
  readonly owner: CatalogueClass;
}

type PathOf = (placed: Placed) => Path;

/** Reports metrics with differing labels, duplicate labels, and rows that give the same series. */
export function checkRows(
  classes: readonly CatalogueClass[],
  paths: ReadonlyMap<Row, Path>,
  problems: Problems,
): void {
  const pathOf: PathOf = ({ row }) => paths.get(row) ?? [];
  const byMetric = new Map<string, Placed[]>();
  for (const owner of classes)
    for (const row of owner.rows) {
      const rows = byMetric.get(row.family.name) ?? [];
      byMetric.set(row.family.name, [...rows, { row, owner }]);
    }
  for (const rows of byMetric.values()) {
    for (const placed of rows) checkLabels(placed, rows[0] ?? placed, pathOf, problems);
    for (const [index, later] of rows.entries()) {
      const earlier = rows.slice(0, index).find((other) => sameSeries(other, later));
      if (earlier !== undefined)
        problems.add(
          pathOf(later),
          `gives the same series of ${later.row.family.name} as the row ${earlier.row.where}`,
        );
    }
  }
}

function checkLabels(placed: Placed, first: Placed, pathOf: PathOf, problems: Problems): void {
  const labels = labelsOf(placed);
  const twice = labels.find((label, index) => labels.indexOf(label) < index);
  if (twice !== undefined)
    problems.add(pathOf(placed), `gives the label ${JSON.stringify(twice)} twice`);
  const problem = placed.row.labelProblem?.(labels);
  if (problem !== undefined) problems.add(pathOf(placed), problem);
  if (setOf(labels) !== setOf(labelsOf(first)))
    problems.add(
      pathOf(placed),
      `${placed.row.family.name} has the labels (${setOf(labels)}) here ` +
        `and (${setOf(labelsOf(first))}) at ${first.row.where}`,
    );
}

const labelsOf = ({ row, owner }: Placed): readonly string[] => [
  ...(owner.paths[0]?.labelNames ?? []),
  ...ownLabelsOf(row),
];

const setOf = (labels: readonly string[]): string => [...new Set(labels)].toSorted().join(', ');

/**
 * True if two rows of one metric would give the same series. Two rows of one class have the same path labels, even
 * if their `at` differs. Rows of two classes give the same series if both read the same object.
 */
function sameSeries(one: Placed, other: Placed): boolean {
  if (staticLabels(one.row) !== staticLabels(other.row)) return false;
  if (one.owner === other.owner) return true;
  const shared = classIdsOf(one).some((id) => classIdsOf(other).includes(id));
  return (
    shared &&
    pathsOf(one).some((path) => pathsOf(other).some((against) => patternsOverlap(path, against)))
  );
}

const staticLabels = ({ labels }: Row): string =>
  JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));

const classIdsOf = ({ row, owner }: Placed): readonly string[] =>
  row.classId === undefined ? owner.classIds : [row.classId];

const pathsOf = ({ row, owner }: Placed): readonly PathPattern[] =>
  owner.paths.map((path) => childPattern(path, row.at));
