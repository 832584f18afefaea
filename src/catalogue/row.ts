// The rows of a catalogue: how the variables of one object become the series of one metric.
import type { FamilyFacts, ValueType, Variable } from '../model.js';
import type { Conversion } from './conversion.js';
import type { Labels } from './match/path-pattern.js';
import type { VariablePattern } from './match/variable-pattern.js';
import type { Series, Shown, Stage } from './stage.js';

/** The most series of one row and variable: a histogram's buckets, its sum and count. */
export const MAX_LINES_A_ROW = 1024;

/** What rows of all kinds have. */
export interface RowFacts {
  /** The metric; rows of one metric share one object. */
  readonly family: FamilyFacts;
  /** Labels that every series of this row carries. */
  readonly labels: Labels;
  /** Seed path below the object of the class where the variables live; empty for the object. */
  readonly at: string;
  /** Class id of the object at `at`; undefined for the object of the class itself. */
  readonly classId: string | undefined;
  /** The key path of the row in its file, for messages; empty for one that is made of what a publisher describes. */
  readonly where: string;
  /** Whether its labels or values say something about a person. */
  readonly isPersonal: boolean;
}

/** Whether a row is of no catalogue: a variable has one of these at most, which may be made anew. */
export const isDescribed = ({ where }: Pick<RowFacts, 'where'>): boolean => where === '';

/** A variable that a row reads. */
export interface Reading {
  /** The exact name; the pattern's text where there is a pattern. */
  readonly variable: string;
  readonly pattern?: VariablePattern | undefined;
  /** The types that the row can show; the first is the usual one. */
  readonly types: readonly ValueType[];
  /** Converts the published number to the one that is shown. */
  readonly conversion?: Conversion;
  /** The unit of the number that is shown. */
  readonly unit?: string;
  /** Set if a text is read as a point in time. */
  readonly isTime?: true;
  /** The texts that the row understands, where not every text counts. */
  readonly texts?: readonly string[];
}

/** A row of any kind; src/catalogue/kinds has one module for each kind. */
export interface Row extends RowFacts {
  /** One entry for each variable; none for a row that shows the state of the object itself. */
  readonly reads: readonly Reading[];
  /** Labels that its series take from variables or their names. */
  readonly ownLabels: readonly string[];
  /**
   * True if its series are rebuilt when a value that it reads changes. The series of other rows are
   * rendered straight from the values.
   */
  readonly isDerived: boolean;
  /** The most series that it makes of one variable, or of the state. */
  readonly linesOf: (variable?: Variable) => number;
  readonly series: (stage: Stage) => Shown;
  /** The series of an object's state, given by name; only for a row that shows it. */
  readonly ofState?: ((state: string) => readonly Series[]) | undefined;
  /** The problem with the labels of its series, those of the path included. */
  readonly labelProblem?: ((labels: readonly string[]) => string | undefined) | undefined;
}

/**
 * A row with these facts. It has all properties, and in one order, so that V8 gives all rows one hidden
 * class: for each variable that is bound a row is asked ten times, and a spread makes a class of its own.
 */
export function rowOf(facts: RowFacts, kind: Omit<Row, keyof RowFacts>): Row {
  const { family, labels, at, classId, where, isPersonal } = facts;
  const { reads, ownLabels, isDerived, linesOf, series, ofState, labelProblem } = kind;
  return {
    family,
    labels,
    at,
    classId,
    where,
    isPersonal,
    reads,
    ownLabels,
    isDerived,
    linesOf,
    series,
    ofState,
    labelProblem,
  };
}

/** The labels of a row's series beside those of its path. */
export const ownLabelsOf = ({ ownLabels, labels }: Row): readonly string[] => [
  ...ownLabels,
  ...Object.keys(labels),
];
