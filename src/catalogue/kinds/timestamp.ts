// Rows that show a point in time as Unix seconds. Most publishers publish the time as text.
import { mustBe, plainVariable } from '../file/table.js';
import { rowOf } from '../row.js';
import { TEXTS, VAR } from './row-kind.js';
import type { RowKind } from './row-kind.js';

export const timestamp: RowKind = {
  types: ['gauge'],
  must: { ...VAR, conv: '"timestamp"' },
  matches: (table) => table.has('conv'),
  read(table, fields) {
    mustBe(table, 'conv', table.text('conv'), 'timestamp');
    return rowOf(fields, {
      inputs: [{ variable: plainVariable(table, 'var'), types: TEXTS, isTime: true }],
      isComputed: true,
      linesOf: () => 1,
      series(context) {
        const value = context.seconds(context.text(context.variable) ?? '');
        return value === undefined ? [] : [{ value }];
      },
    });
  },
};
