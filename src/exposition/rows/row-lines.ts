// Facts about the lines that a row of the catalogue makes.
import type { Row } from '../../catalogue/row.js';
import type { Variable } from '../../model.js';
import type { Line } from '../kernel/line-table.js';
import { joinLabels, labelsText, seriesText } from '../text/labels.js';

/** Whether the row's lines are made of the text of a value, also of a number. */
export const isTextual = ({ kind }: Row): boolean =>
  kind === 'info' || kind === 'timestamp' || kind === 'stateset';

/** Whether the row's lines come from several variables of one object. */
export const isShared = (row: Row): boolean =>
  row.kind === 'pair' || (row.kind === 'info' && row.labelsFrom.length > 1);

/** How many lines a row makes of one variable, at most. */
export function linesOf(row: Row, variable: Variable): number {
  switch (row.kind) {
    case 'pair':
      return 2;
    case 'stateset':
      return row.states.length;
    case 'distribution':
      return variable.schema.length + 3;
    case 'observed-histogram':
      return row.buckets.length + 3;
    case 'observed-summary':
      return row.quantiles.length + 2;
    default:
      return 1;
  }
}

/** A line whose value is part of its text. */
export const constant = (series: string, value: number): Line => ({
  text: `${series} ${value}\n`,
  value: 0,
  op: 0,
});

/** One line a state: 1 for the present one; the label has the metric's name, as OpenMetrics asks. */
export const stateLines = (
  name: string,
  labels: string,
  states: readonly string[],
  present: string,
): Line[] =>
  states.map((state) =>
    constant(
      seriesText(name, joinLabels(labels, labelsText({ [name]: state }))),
      Number(state === present),
    ),
  );
