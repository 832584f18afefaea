// The rows of one class for one kind of object, ready to be looked up by variable name.
import type { Labels } from './path-pattern.js';
import { variablesOf } from '../row.js';
import type { Row, ScalarRow, StateRow } from '../row.js';
import type { VariablePattern } from './variable-pattern.js';

/** One row that reads a variable. */
export interface RowUse {
  readonly row: Row;
  /** The label that the row took out of the variable's name; empty without a pattern. */
  readonly captured: Labels;
}

export interface RuleSet {
  /** The alias of the class that the rows belong to. */
  readonly alias: string;
  /** In the order of the file. */
  readonly rows: readonly Row[];
  /** The rows that show the state of the object itself. */
  readonly stateRows: readonly StateRow[];
  /** The rows that read the variable of this name, in the order of the file; mostly none. */
  usesOf(variable: string): readonly RowUse[];
}

const NONE: readonly RowUse[] = [];

export function compileRuleSet(alias: string, rows: readonly Row[]): RuleSet {
  const byName = new Map<string, RowUse[]>();
  for (const row of rows)
    for (const variable of variablesOf(row))
      byName.set(variable, [...(byName.get(variable) ?? []), { row, captured: {} }]);
  const patterned = rows.filter((row) => isPatterned(row));

  const usesOf = (variable: string): readonly RowUse[] => {
    const exact = byName.get(variable) ?? NONE;
    if (patterned.length === 0) return exact;
    return [...exact, ...patterned.flatMap((row) => capturedUse(row, variable) ?? [])];
  };
  return { alias, rows, stateRows: rows.filter((row) => row.kind === 'state'), usesOf };
}

type PatternedRow = ScalarRow & { readonly pattern: VariablePattern };

const isPatterned = (row: Row): row is PatternedRow =>
  row.kind === 'scalar' && row.pattern !== undefined;

function capturedUse(row: PatternedRow, variable: string): RowUse | undefined {
  const value = row.pattern.capture(variable);
  return value === undefined ? undefined : { row, captured: { [row.pattern.label]: value } };
}
