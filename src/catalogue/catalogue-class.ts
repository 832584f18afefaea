// One class of a catalogue: an alias, the objects that it selects, and their rows.
import { word } from '../rules/formats.js';
import { list } from '../rules/rule.js';
import { checkRemarks } from './file/row-parser.js';
import type { RowParser } from './file/row-parser.js';
import { compilePathPattern } from './match/patterns.js';
import type { PathPattern } from './match/patterns.js';
import type { Row } from './row.js';
import type { Table } from './file/table.js';

/** The objects that a class alias selects, and the metrics of their variables. */
export interface CatalogueClass {
  readonly alias: string;
  readonly classIds: readonly string[];
  /** The patterns of the objects' paths; the first that matches wins. All patterns capture the same labels. */
  readonly paths: readonly PathPattern[];
  readonly rows: readonly Row[];
  /** Whether variables that no row reads are shown as their publisher describes them. */
  readonly isDescribed: boolean;
}

const someWords = list(word, { min: 1 });
const CLASS_KEYS = ['alias', 'class_ids', 'paths', 'metrics', 'described', 'src', 'note'];

/** Parses the class in `table`; each error in it becomes a problem. */
export function parseClass(table: Table, parser: RowParser): CatalogueClass {
  const { problems } = table;
  table.only(CLASS_KEYS);
  checkRemarks(table);
  table.needs({
    alias: 'the name by which targets select the class',
    class_ids: 'an array of class ids',
    paths: 'an array of path patterns',
    metrics: 'an array of rows, which may be empty',
  });
  const classIds = table.read('class_ids', someWords) ?? [];
  const paths = (table.read('paths', someWords) ?? []).flatMap(
    (text, index) => problems.catch(table.at('paths', index), () => compilePathPattern(text)) ?? [],
  );
  for (const path of paths)
    if (labelSet(path) !== labelSet(paths[0] ?? path))
      table.report('paths', `${path.text} must capture the same labels as ${paths[0]?.text ?? ''}`);
  const rows = table.tables('metrics').flatMap((inFile) => parser.parse(inFile) ?? []);
  const isDescribed = table.flag('described') ?? false;
  return { alias: table.read('alias', word) ?? '', classIds, paths, rows, isDescribed };
}

const labelSet = ({ labelNames }: PathPattern): string => labelNames.toSorted().join();
