// Rows that compute a histogram or summary of the values that a variable has over time.
import { ascending, conversionIn, mustBe, plainVariable } from '../file/table.js';
import { rowOf } from '../row.js';
import { LEVELS, VAR } from './row-kind.js';
import type { RowKind } from './row-kind.js';

export const observedHistogram: RowKind = {
  types: ['histogram'],
  must: { ...VAR, observe: 'true', buckets: 'an array of ascending numbers' },
  may: ['scale'],
  matches: (table, type) =>
    type === 'histogram' && ['observe', 'buckets', 'quantiles'].some((key) => table.has(key)),
  read(table, fields) {
    mustBe(table, 'observe', table.flag('observe'), true);
    const variable = plainVariable(table, 'var');
    const conversion = conversionIn(table, 'scale');
    const bounds = ascending(table, 'buckets');
    return rowOf(fields, {
      inputs: [{ variable, types: LEVELS, conversion, unit: fields.family.unit }],
      // Lines for +Inf, sum and count, besides those of the bounds.
      linesOf: () => bounds.length + 3,
      series: (context) => context.observed({ type: 'histogram', bounds }, conversion),
    });
  },
};

// Rows that take the published values of a number as observations of a summary with quantiles.
export const observedSummary: RowKind = {
  types: ['summary'],
  must: { ...VAR, observe: 'true', quantiles: 'an array of ascending numbers from 0 to 1' },
  may: ['scale'],
  matches: (table, type) =>
    type === 'summary' && ['observe', 'buckets', 'quantiles'].some((key) => table.has(key)),
  read(table, fields) {
    mustBe(table, 'observe', table.flag('observe'), true);
    const variable = plainVariable(table, 'var');
    const conversion = conversionIn(table, 'scale');
    const quantiles = ascending(table, 'quantiles', 0, 1);
    return rowOf(fields, {
      inputs: [{ variable, types: LEVELS, conversion, unit: fields.family.unit }],
      // Lines for sum and count, besides those of the quantiles.
      linesOf: () => quantiles.length + 2,
      series: (context) => context.observed({ type: 'summary', quantiles }, conversion),
    });
  },
};
