// The rows of a catalogue: how the variables of one object become the series of one metric.
import type { FamilyFacts, OBJECT_STATES } from '../model.js';
import type { Conversion } from './conversion.js';
import type { Labels } from './match/path-pattern.js';
import type { VariablePattern } from './match/variable-pattern.js';

interface RowBase {
  /** The metric; rows of one metric share one object. */
  readonly family: FamilyFacts;
  /** Labels that every series of this row carries. */
  readonly labels: Labels;
  /** Seed path below the object of the class where the variables live; empty for the object. */
  readonly at: string;
  /** Class id of the object at `at`; undefined for the object of the class itself. */
  readonly classId: string | undefined;
  /** The key path of the row in its file, for messages. */
  readonly where: string;
}

/** One number, one series. */
export interface ScalarRow extends RowBase {
  readonly kind: 'scalar';
  /** The exact name; the pattern's text where there is a pattern. */
  readonly variable: string;
  readonly pattern: VariablePattern | undefined;
  readonly conversion: Conversion;
  /** A negative i64 is a total that wrapped at 32 bits: add 2^32 before converting. */
  readonly wrap32: boolean;
}

/** The state of the object itself, one series a state. */
export interface StateRow extends RowBase {
  readonly kind: 'state';
  readonly states: typeof OBJECT_STATES;
}

/** Always 1; the labels are the texts of variables. */
export interface InfoRow extends RowBase {
  readonly kind: 'info';
  readonly labelsFrom: readonly { readonly label: string; readonly variable: string }[];
}

/** A string variable that names one of several states, one series a state. */
export interface StatesetRow extends RowBase {
  readonly kind: 'stateset';
  readonly variable: string;
  readonly states: readonly string[];
}

/** A point in time, published as a string, as Unix seconds. */
export interface TimestampRow extends RowBase {
  readonly kind: 'timestamp';
  readonly variable: string;
}

/** A histogram or summary variable, passed through; the conversion is for bounds and sum. */
export interface DistributionRow extends RowBase {
  readonly kind: 'distribution';
  readonly variable: string;
  readonly conversion: Conversion;
}

/** A number of which each published value is one observation. */
export interface ObservedHistogramRow extends RowBase {
  readonly kind: 'observed-histogram';
  readonly variable: string;
  readonly conversion: Conversion;
  /** Ascending upper bounds in the unit of the metric, without +Inf. */
  readonly buckets: readonly number[];
}

/** A number of which each published value is one observation, as quantiles. */
export interface ObservedSummaryRow extends RowBase {
  readonly kind: 'observed-summary';
  readonly variable: string;
  readonly conversion: Conversion;
  /** Ascending, between 0 and 1. */
  readonly quantiles: readonly number[];
}

/** A summary without quantiles, from a variable with its sum and one with its count. */
export interface PairRow extends RowBase {
  readonly kind: 'pair';
  readonly sum: string;
  readonly count: string;
  /** For the sum only. */
  readonly conversion: Conversion;
  /** For both: see `ScalarRow`. */
  readonly wrap32: boolean;
}

export type Row =
  | ScalarRow
  | StateRow
  | InfoRow
  | StatesetRow
  | TimestampRow
  | DistributionRow
  | ObservedHistogramRow
  | ObservedSummaryRow
  | PairRow;

/** The exact names of the variables that a row reads; none for a pattern or the object state. */
export function variablesOf(row: Row): readonly string[] {
  switch (row.kind) {
    case 'state':
      return [];
    case 'info':
      return [...new Set(row.labelsFrom.map(({ variable }) => variable))];
    case 'pair':
      return [row.sum, row.count];
    case 'scalar':
      return row.pattern === undefined ? [row.variable] : [];
    default:
      return [row.variable];
  }
}

/** The labels of a row's series beside those of its path. */
export function ownLabelsOf(row: Row): readonly string[] {
  const own = Object.keys(row.labels);
  if (row.kind === 'info') return [...own, ...row.labelsFrom.map(({ label }) => label)];
  if (row.kind === 'scalar' && row.pattern !== undefined) return [row.pattern.label, ...own];
  return own;
}
