// What a row renders from: the values of one object, and the ways to render them.
import type { Variable } from '../model.js';
import type { Conversion } from './conversion.js';

/** A value that each render reads where it is kept. Only a stage makes one. */
export interface LiveValue {
  readonly address: number;
  readonly op: number;
}

/** One series of a row. */
export interface Series {
  /** What follows the name of the metric, such as `_sum`. */
  readonly suffix?: string;
  /** Labels beside those that every series of the row has; a number is written like a value. */
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number | LiveValue;
}

/**
 * All series of a row, or the value of the only one, which has no labels of its own; or `unchanged`: it
 * keeps its series, and each render reads their values.
 */
export type Shown = readonly Series[] | LiveValue | 'unchanged';

/** The bounds of a histogram or the quantiles of a summary, in the unit of the metric. */
export type Shape =
  | { readonly type: 'histogram'; readonly bounds: readonly number[] }
  | { readonly type: 'summary'; readonly quantiles: readonly number[] };

/** For one variable of one object, while a row is shown. */
export interface Stage {
  /**
   * The variable for which the row is shown; it has a value, and a type that the row reads. In a row of several
   * variables it is any of them, of any type.
   */
  readonly variable: Variable;
  /** The variable of that name in the same object, if it has a value and a type that the row reads. */
  named(name: string): Variable | undefined;
  /** The text of a variable; for a number, its decimal, or `NaN`, `+Inf`, `-Inf`; undefined for a distribution. */
  text(variable: Variable): string | undefined;
  /** The Unix seconds of a point in time; undefined for another text. */
  seconds(text: string): number | undefined;
  /** A number as it is at each render; undefined when it cannot be rendered as one. */
  live(variable: Variable, conversion?: Conversion, wrap32?: boolean): LiveValue | undefined;
  /**
   * The published histogram or summary of its variable.
   * @param shapeOf is called once
   * @param conversion applies to the sum and the values of quantiles
   */
  distribution(shapeOf: () => Shape, conversion: Conversion): Shown;
  /** The distribution of the values of its variable, each an observation. */
  observed(shape: Shape, conversion: Conversion): Shown;
}
