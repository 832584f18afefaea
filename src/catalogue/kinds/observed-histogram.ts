// A number whose published values are the observations of a histogram.
import { ascending, conversionIn, mustBe, plainVariable } from '../file/row-values.js';
import { rowOf } from '../row.js';
import { LEVELS } from './row-kind.js';
import type { RowKind } from './row-kind.js';

export const observedHistogram: RowKind = {
  types: ['histogram'],
  must: ['var', 'observe', 'buckets'],
  may: ['scale'],
  suits: (table, type) =>
    type === 'histogram' && ['observe', 'buckets', 'quantiles'].some((key) => table.has(key)),
  read(table, facts) {
    mustBe(table, 'observe', table.flag('observe'), true);
    const variable = plainVariable(table, 'var');
    const conversion = conversionIn(table, 'scale');
    const bounds = ascending(table, 'buckets');
    return rowOf(facts, {
      reads: [{ variable, types: LEVELS, conversion, unit: facts.family.unit }],
      ownLabels: [],
      isDerived: false,
      // +Inf, sum and count
      linesOf: () => bounds.length + 3,
      series: (stage) => stage.observed({ type: 'histogram', bounds }, conversion),
    });
  },
};
