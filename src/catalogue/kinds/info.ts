// Rows of info metrics. The value is always 1; the labels are the texts of variables.
import { labelVariables } from '../file/table.js';
import { rowOf } from '../row.js';
import type { Row, RowFields, RowContext } from '../row.js';
import { TEXTS } from './row-kind.js';
import type { RowKind } from './row-kind.js';

export const info: RowKind = {
  types: ['info'],
  must: { labels_from: 'a table of labels, each with the name of a variable' },
  matches: (table, type) => type === 'info' || table.has('labels_from'),
  read(table, fields) {
    const pairs = labelVariables(table, 'labels_from');
    if (pairs.length === 0)
      table.report('labels_from', 'found an empty table, needed: at least one label');
    return infoRow(fields, pairs);
  },
};

/** A label name, and the variable whose text is the label's value. */
type Pair = readonly [label: string, variable: string];

export const infoRow = (fields: RowFields, pairs: readonly Pair[]): Row =>
  rowOf(fields, {
    inputs: [...new Set(pairs.map(([, variable]) => variable))].map((variable) => ({
      variable,
      types: TEXTS,
    })),
    ownLabels: pairs.map(([label]) => label),
    isComputed: true,
    linesOf: () => 1,
    series(context) {
      // A variable without a value gives no label, and a row without labels gives no series.
      const labels = Object.fromEntries(pairs.flatMap((each) => labelOf(each, context)));
      return Object.keys(labels).length === 0 ? [] : [{ labels, value: 1 }];
    },
  });

function labelOf([label, name]: Pair, context: RowContext): readonly (readonly [string, string])[] {
  const variable = context.named(name);
  const text = variable && context.text(variable);
  return text === undefined ? [] : [[label, text]];
}
