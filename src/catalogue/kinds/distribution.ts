// Rows that show a published histogram or summary.
import type { Variable } from '../../model.js';
import { convert, rowOf } from '../row.js';
import type { BoundsOrQuantiles, Conversion, Row, RowFields } from '../row.js';
import { conversionIn, plainVariable } from '../file/table.js';
import { VAR } from './row-kind.js';
import type { RowKind } from './row-kind.js';

export const distribution: RowKind = {
  types: ['histogram', 'summary'],
  must: VAR,
  may: ['scale'],
  matches: (_table, type) => type === 'histogram' || type === 'summary',
  read: (table, fields) =>
    distributionRow(fields, plainVariable(table, 'var'), conversionIn(table, 'scale')),
};

/** @param conversion converts bounds, values of quantiles and the sum */
export function distributionRow(fields: RowFields, variable: string, conversion: Conversion): Row {
  const type = fields.family.type === 'summary' ? 'summary' : 'histogram';
  return rowOf(fields, {
    inputs: [{ variable, types: [type], conversion, unit: fields.family.unit }],
    isComputed: true,
    // Lines for +Inf, sum and count, besides those of the schema.
    linesOf: (published) => (published?.schema.length ?? 0) + 3,
    series: (context) =>
      context.variable.type === type
        ? context.distribution(() => shapeOf(type, context.variable, conversion), conversion)
        : [],
  });
}

const shapeOf = (
  type: BoundsOrQuantiles['type'],
  { schema, declaration }: Variable,
  conversion: Conversion,
): BoundsOrQuantiles => {
  if (type === 'summary') return { type, quantiles: schema };
  const converted = schema.map((bound) => convert(bound, conversion));
  const bounds = converted.filter((bound) => bound !== Infinity);
  return { type, bounds, texts: declaration.metric?.bounds };
};
