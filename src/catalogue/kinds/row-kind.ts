// What the parser of catalogue files knows about one kind of row.
import type { MetricType, ValueType } from '../../model.js';
import { SCALAR_TYPES } from '../../published.js';
import type { ScalarType } from '../../published.js';
import type { Table } from '../file/table.js';
import type { Row, RowFields } from '../row.js';

export interface RowKind {
  /** The metric types that it can give. */
  readonly types: readonly MetricType[];
  /** Its required and optional keys, beside those that every row may have. */
  readonly must: readonly string[];
  readonly may?: readonly string[];
  /** True if a row with these keys may be of this kind; the first such kind of the list wins. */
  matches(table: Table, type: MetricType): boolean;
  /** Reads the keys of its kind; each error becomes a problem of the table. */
  read(table: Table, fields: RowFields): Row;
}

const numbersFrom = (usual: ScalarType): readonly ValueType[] => [
  usual,
  ...SCALAR_TYPES.filter((type) => type !== usual),
];
/** All number types, u64 first: the simulator publishes counters as the first type. */
export const TOTALS = numbersFrom('u64');
/** All number types, i64 first: the simulator publishes gauges as the first type. */
export const LEVELS = numbersFrom('i64');
/** The types that can be shown as text. */
export const TEXTS: readonly ValueType[] = ['string', ...SCALAR_TYPES];
