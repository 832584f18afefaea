// A row of a catalogue: what it reads, and the context that gives it values.
import type { FamilyMetadata, ValueType, Variable } from '../model.js';
import type { WorkerRule } from '../rules/formats.js';
import type { LabelValues, VariablePattern } from './match/patterns.js';

/** Multiplies a value by `multiply`, then divides it by `divide`. Both are 1 for no conversion. */
export interface Conversion {
  readonly multiply: number;
  readonly divide: number;
}

export const UNCHANGED: Conversion = { multiply: 1, divide: 1 };

export const convert = (value: number, { multiply, divide }: Conversion): number =>
  (value * multiply) / divide;

/**
 * The conversion of a scale such as 0.01, 0.000001 or 86400. A decimal fraction becomes a whole multiplier and a
 * whole divisor, since 7 * 0.01 is 0.07000000000000001, but 7 / 100 is 0.07.
 */
export function conversionOf(scale: number): Conversion {
  const decimal = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(scale));
  const [, whole = '', fraction = '', exponent = '0'] = decimal ?? [];
  const power = fraction.length - Number(exponent);
  const digits = Number(whole + fraction);
  // Beyond these bounds, the product of value and multiplier is inexact too, so the scale itself is the multiplier.
  if (decimal === null || digits > 1e6 || power > 15 || power < 0)
    return { multiply: scale, divide: 1 };
  const shared = greatestDivisor(digits, 10 ** power);
  return { multiply: digits / shared, divide: 10 ** power / shared };
}

function greatestDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

/** A value that each render reads from the kernel's memory. Only a `RowContext` creates one. */
export interface ValueReference {
  readonly address: number;
  readonly opcode: number;
}

export interface Series {
  /** The suffix of the metric name, such as `_sum`. */
  readonly suffix?: string;
  /** The labels of this series besides the labels of the row. A number is formatted like a value. */
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number | ValueReference;
}

/**
 * All series of a row; or the value of its only series, if that series has no labels of its own; or `unchanged` if
 * the row keeps its series and only their values change.
 */
export type RowOutput = readonly Series[] | ValueReference | 'unchanged';

/** The bounds of a histogram or the quantiles of a summary, in the unit of the metric. */
export type BoundsOrQuantiles =
  | {
      readonly type: 'histogram';
      readonly bounds: readonly number[];
      /** The bounds as the label `le` shows them, if not as numbers. */
      readonly texts?: readonly string[] | undefined;
    }
  | { readonly type: 'summary'; readonly quantiles: readonly number[] };

/** What a row can read of an object while the row makes the series of one variable. */
export interface RowContext {
  /**
   * The variable that the row is evaluated for; its value has a type that the row reads. If the row reads several
   * variables, this is an arbitrary one of them, of any type.
   */
  readonly variable: Variable;
  /** The variable called `name` in the same object, if it has a value and a type that the row reads. */
  named(name: string): Variable | undefined;
  /**
   * The text of a variable; for a number, its decimal digits, `NaN`, `+Inf` or `-Inf`; undefined for a
   * distribution.
   */
  text(variable: Variable): string | undefined;
  /** Parses a point in time to Unix seconds; undefined for any other text. */
  seconds(text: string): number | undefined;
  /** A reference to a number, which each render reads again; undefined if the value is not a number. */
  reference(
    variable: Variable,
    conversion?: Conversion,
    wrap32?: boolean,
  ): ValueReference | undefined;
  /**
   * The published histogram or summary of `variable`.
   * @param shapeOf is called once
   * @param conversion applies to the sum and the values of quantiles
   */
  distribution(shapeOf: () => BoundsOrQuantiles, conversion: Conversion): RowOutput;
  /** A distribution that observes each new value of `variable`. */
  observed(shape: BoundsOrQuantiles, conversion: Conversion): RowOutput;
}

/** The maximum number of series of one row and one variable, such as the buckets, sum and count of a histogram. */
export const MAX_LINES_A_ROW = 1024;

export interface RowFields {
  /** The metric. All rows of a metric share one metadata object. */
  readonly family: FamilyMetadata;
  /** Labels that every series of this row carries. */
  readonly labels: LabelValues;
  /** Path from the object of the class to the object with the variables; empty if they are the same object. */
  readonly at: string;
  /** Class id of the object at `at`; undefined for the object of the class itself. */
  readonly classId: string | undefined;
  /** The key path of the row in its file, for messages; empty for a declared row. */
  readonly where: string;
  /** Whether labels or values of the row contain personal data. */
  readonly isPersonal: boolean;
}

/** Whether a row comes from a publisher's declaration instead of a catalogue. A variable has at most one such row. */
export const isDeclared = ({ where }: Pick<RowFields, 'where'>): boolean => where === '';

export interface RowInput {
  /** The exact name of the variable, or the text of the pattern for its name. */
  readonly variable: string;
  readonly pattern?: VariablePattern | undefined;
  /** The types that the row can show; the simulator publishes the first. */
  readonly types: readonly ValueType[];
  /** Converts the published number to the shown number. */
  readonly conversion?: Conversion;
  /** The unit of the shown number. */
  readonly unit?: string;
  /** True if the row reads the variable's text as a point in time. */
  readonly isTime?: true;
  /** The texts that the row can show; undefined if it shows every text. */
  readonly texts?: readonly string[];
  /** How the values of several workers are shown; undefined if the row does not state it. */
  readonly workers?: WorkerRule | undefined;
}

/** A row of any kind; src/catalogue/kinds has one module for each kind. */
export interface Row extends RowFields {
  /** One entry for each variable that the row reads; none for a row that shows the state of the object itself. */
  readonly inputs: readonly RowInput[];
  /** Labels that the row's series take from variables or their names. */
  readonly ownLabels: readonly string[];
  /**
   * True if the row's series are rebuilt when a value that the row reads changes. The series of other rows are
   * rendered straight from the values.
   */
  readonly isComputed: boolean;
  /** The maximum number of series that the row makes of one variable, or of the object's state. */
  readonly linesOf: (variable?: Variable) => number;
  readonly series: (context: RowContext) => RowOutput;
  /** The series for an object in the state `state`; only for a row that shows the object's state. */
  readonly ofState?: ((state: string) => readonly Series[]) | undefined;
  /** Returns a problem with the labels of a series, including path labels; undefined if there is none. */
  readonly labelProblem?: ((labels: readonly string[]) => string | undefined) | undefined;
}

/** The properties that a kind gives its rows. By default, a row has no own labels and is not computed. */
type KindFields = Omit<Row, keyof RowFields | 'ownLabels' | 'isComputed'> &
  Partial<Pick<Row, 'ownLabels' | 'isComputed'>>;

/**
 * Makes a row. All rows have the same properties in the same order, so that V8 gives them one hidden class. Binding a
 * variable reads its row ten times, and a spread would create another hidden class.
 */
export function rowOf(fields: RowFields, kind: KindFields): Row {
  const { family, labels, at, classId, where, isPersonal } = fields;
  const { inputs, ownLabels = [], isComputed = false, linesOf, series } = kind;
  const { ofState, labelProblem } = kind;
  return {
    family,
    labels,
    at,
    classId,
    where,
    isPersonal,
    inputs,
    ownLabels,
    isComputed,
    linesOf,
    series,
    ofState,
    labelProblem,
  };
}

/** The labels of a row's series besides the labels of the path. */
export const ownLabelsOf = ({ ownLabels, labels }: Row): readonly string[] => [
  ...ownLabels,
  ...Object.keys(labels),
];
