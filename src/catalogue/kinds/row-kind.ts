// What the reader of catalogue files knows of one kind of rows.
import type { MetricType, ValueType } from '../../model.js';
import type { Table } from '../file/table.js';
import type { Row, RowFacts } from '../row.js';

export interface RowKind {
  /** The metric types that it can give. */
  readonly types: readonly MetricType[];
  /** The keys that it must and may have, beside those that every row may have. */
  readonly must: readonly string[];
  readonly may?: readonly string[];
  /** Whether a row with these keys is of this kind, unless an earlier kind of the list suits. */
  suits(table: Table, type: MetricType): boolean;
  /** Reads its own keys; what is wrong with them becomes a problem of the table. */
  read(table: Table, facts: RowFacts): Row;
}

/** The types of numbers, the usual one of totals first. */
export const TOTALS: readonly ValueType[] = ['u64', 'i64', 'f64', 'bool'];
/** The same, the usual one of what rises and falls first. */
export const LEVELS: readonly ValueType[] = ['i64', 'u64', 'f64', 'bool'];
/** The types of what has a text. */
export const TEXTS: readonly ValueType[] = ['string', 'u64', 'i64', 'f64', 'bool'];
