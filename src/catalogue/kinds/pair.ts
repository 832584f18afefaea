// Rows of summaries without quantiles. One variable is the sum, another variable is the count.
import { UNCHANGED, rowOf } from '../row.js';
import { repeated } from '../../rules/rule.js';
import { conversionIn, plainVariable, wraps } from '../file/table.js';
import type { RowInput } from '../row.js';
import { TOTALS } from './row-kind.js';
import type { RowKind } from './row-kind.js';

export const pair: RowKind = {
  types: ['summary'],
  must: {
    sum_var: 'the name of the variable with the sum',
    count_var: 'the name of the variable with the count',
  },
  may: ['scale', 'wrap32'],
  matches: (table) => table.has('sum_var') || table.has('count_var'),
  read(table, fields) {
    const sum = plainVariable(table, 'sum_var');
    const count = plainVariable(table, 'count_var');
    if (sum === count) table.report('count_var', repeated(table.at('sum_var')));
    const conversion = conversionIn(table, 'scale');
    const wrap32 = wraps(table, fields.family.type);
    const { unit } = fields.family;
    const inputs: readonly RowInput[] = [
      { variable: sum, types: TOTALS, conversion, unit },
      { variable: count, types: TOTALS },
    ];
    return rowOf(fields, {
      inputs,
      linesOf: () => 2,
      series(context) {
        const [ofSum, ofCount] = [context.named(sum), context.named(count)];
        const total = ofSum && context.reference(ofSum, conversion, wrap32);
        const number = ofCount && context.reference(ofCount, UNCHANGED, wrap32);
        if (total === undefined || number === undefined) return [];
        return [
          { suffix: '_sum', value: total },
          { suffix: '_count', value: number },
        ];
      },
    });
  },
};
