// Rows that show a number as one series, rendered from the slot of its variable.
import type { Conversion, Row, RowFields } from '../row.js';
import { conversionIn, patternIn, variableIn, workersIn, wraps } from '../file/table.js';
import type { WorkerRule } from '../../rules/formats.js';
import type { VariablePattern } from '../match/patterns.js';
import { rowOf } from '../row.js';
import { LEVELS, TOTALS, VAR } from './row-kind.js';
import type { RowKind } from './row-kind.js';

export const scalar: RowKind = {
  types: ['gauge', 'counter', 'unknown'],
  must: VAR,
  may: ['scale', 'wrap32', 'workers'],
  matches: () => true,
  read(table, fields) {
    const variable = variableIn(table, 'var');
    return scalarRow(fields, {
      variable,
      pattern: patternIn(table, 'var', variable),
      conversion: conversionIn(table, 'scale'),
      wrap32: wraps(table, fields.family.type),
      workers: workersIn(table, fields.family.type),
    });
  },
};

interface ScalarRow {
  readonly variable: string;
  /** Matches several variables. Each has its own series, with the varying part of its name as a label. */
  readonly pattern?: VariablePattern | undefined;
  readonly conversion: Conversion;
  /** Whether a negative i64 is a counter that wrapped at 32 bits. If so, 2^32 is added to it before the conversion. */
  readonly wrap32: boolean;
  readonly workers?: WorkerRule | undefined;
}

export function scalarRow(fields: RowFields, scalar: ScalarRow): Row {
  const { type, unit } = fields.family;
  const { variable, pattern, conversion, wrap32, workers } = scalar;
  const types = type === 'counter' ? TOTALS : LEVELS;
  return rowOf(fields, {
    inputs: [{ variable, pattern, conversion, types, unit, workers }],
    ownLabels: pattern === undefined ? [] : [pattern.label],
    linesOf: () => 1,
    series(context) {
      return context.reference(context.variable, conversion, wrap32) ?? [];
    },
  });
}
