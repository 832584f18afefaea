// What the parser of catalogue files knows about one kind of row.
import type { MetricType, ValueType } from '../../model.js';
import type { Table } from '../file/table.js';
import type { Row, RowFacts } from '../row.js';

export interface RowKind {
  /** The metric types that it can give. */
  readonly types: readonly MetricType[];
  /** Its required and optional keys, beside those that every row may have. */
  readonly must: readonly string[];
  readonly may?: readonly string[];
  /** True if a row with these keys may be of this kind; the first such kind of the list wins. */
  suits(table: Table, type: MetricType): boolean;
  /** Reads the keys of its kind; each error becomes a problem of the table. */
  read(table: Table, facts: RowFacts): Row;
}

/** The number types, the usual one of totals first. */
export const TOTALS: readonly ValueType[] = ['u64', 'i64', 'f64', 'bool'];
/** The number types, the usual one of gauges first. */
export const LEVELS: readonly ValueType[] = ['i64', 'u64', 'f64', 'bool'];
/** The types that can be shown as text. */
export const TEXTS: readonly ValueType[] = ['string', 'u64', 'i64', 'f64', 'bool'];
