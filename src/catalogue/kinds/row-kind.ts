// A kind of row: its metric types, its keys, and the function that reads them.
import type { MetricType, ValueType } from '../../model.js';
import { SCALAR_TYPES } from '../../published.js';
import type { ScalarType } from '../../published.js';
import type { Table } from '../file/table.js';
import type { Row, RowFields } from '../row.js';

export interface RowKind {
  readonly types: readonly MetricType[];
  /** The keys that this kind requires in addition to those of every row, each with a description of its values. */
  readonly must: Readonly<Record<string, string>>;
  readonly may?: readonly string[];
  /** True if the keys of a row fit this kind. The kind of a row is the first in `ROW_KINDS` that fits. */
  matches(table: Table, type: MetricType): boolean;
  /** Reads the keys of this kind from `table`; each error becomes a problem. */
  read(table: Table, fields: RowFields): Row;
}

const numbersFrom = (usual: ScalarType): readonly ValueType[] => [
  usual,
  ...SCALAR_TYPES.filter((type) => type !== usual),
];
/** All number types. The first is u64, because the simulator publishes counters with the first type. */
export const TOTALS = numbersFrom('u64');
/** All number types. The first is i64, because the simulator publishes gauges with the first type. */
export const LEVELS = numbersFrom('i64');
/** The required key of kinds that read one variable. */
export const VAR = { var: 'the name of a variable' };
/** The types that can be shown as text. */
export const TEXTS: readonly ValueType[] = ['string', ...SCALAR_TYPES];
