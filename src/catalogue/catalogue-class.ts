// One class of a catalogue: an alias, the objects that it stands for, and their rows.
import { checkRemarks } from './file/row-parser.js';
import type { RowParser } from './file/row-parser.js';
import { compilePathPattern } from './match/path-pattern.js';
import type { PathPattern } from './match/path-pattern.js';
import type { Row } from './row.js';
import type { Table } from './file/table.js';

/** The objects that a class alias stands for, and what their variables become. */
export interface CatalogueClass {
  readonly alias: string;
  readonly classIds: readonly string[];
  /** Where the objects are; the first that matches counts. All capture the same labels. */
  readonly paths: readonly PathPattern[];
  readonly rows: readonly Row[];
}

const CLASS_KEYS = ['alias', 'class_ids', 'paths', 'metrics', 'src', 'note'];

/** The class in `table`; what is wrong with it becomes a problem. */
export function parseClass(table: Table, parser: RowParser): CatalogueClass {
  const { problems } = table;
  table.only(CLASS_KEYS);
  checkRemarks(table);
  table.needs('alias', 'class_ids', 'paths', 'metrics');
  for (const key of ['class_ids', 'paths'])
    if (table.has(key) && (table.texts(key).length === 0 || table.texts(key).includes('')))
      problems.add(table.at(key), 'must be a list of at least one text, none of them empty');
  const paths = table
    .texts('paths')
    .flatMap(
      (text, index) =>
        problems.catch(table.at('paths', index), () => compilePathPattern(text)) ?? [],
    );
  for (const path of paths)
    if (labelSet(path) !== labelSet(paths[0] ?? path))
      problems.add(
        table.at('paths'),
        `${path.text} must capture the same labels as ${paths[0]?.text ?? ''}`,
      );
  const rows = table.tables('metrics').flatMap((inFile) => parser.parse(inFile) ?? []);
  return { alias: table.text('alias') ?? '', classIds: table.texts('class_ids'), paths, rows };
}

const labelSet = ({ labelNames }: PathPattern): string => labelNames.toSorted().join();
