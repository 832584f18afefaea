// The rows of one class for one kind of object, indexed by variable name.
import type { Labels } from './path-pattern.js';
import type { Reading, Row } from '../row.js';

/** One row that reads a variable. */
export interface RowUse {
  readonly row: Row;
  readonly reading: Reading;
  /** The label that the row took out of the variable's name; empty without a pattern. */
  readonly captured: Labels;
}

export interface RuleSet {
  /** The alias of the class that the rows belong to. */
  readonly alias: string;
  /** Whether variables that no row reads are shown as their publisher describes them. */
  readonly isDescribed: boolean;
  /** In the order of the file. */
  readonly rows: readonly Row[];
  /** The rows that show the state of the object itself. */
  readonly stateRows: readonly Row[];
  /** The rows that read the variable of this name, in the order of the file; mostly none. */
  usesOf(variable: string): readonly RowUse[];
}

const NONE: readonly RowUse[] = [];

export function compileRuleSet(alias: string, rows: readonly Row[], isDescribed = false): RuleSet {
  const byName = new Map<string, RowUse[]>();
  const patterned: RowUse[] = [];
  for (const row of rows)
    for (const reading of row.reads) {
      const use = { row, reading, captured: {} };
      if (reading.pattern !== undefined) patterned.push(use);
      else {
        const uses = byName.get(reading.variable);
        if (uses !== undefined) uses.push(use);
        else byName.set(reading.variable, [use]);
      }
    }

  const usesOf = (variable: string): readonly RowUse[] => {
    const exact = byName.get(variable) ?? NONE;
    if (patterned.length === 0) return exact;
    return [...exact, ...patterned.flatMap((use) => capturedUse(use, variable))];
  };
  const stateRows = rows.filter(({ ofState }) => ofState !== undefined);
  return { alias, isDescribed, rows, stateRows, usesOf };
}

function capturedUse(use: RowUse, variable: string): readonly RowUse[] {
  const { row, reading } = use;
  const { pattern } = reading;
  const value = pattern?.capture(variable);
  if (pattern === undefined || value === undefined) return NONE;
  return [{ row, reading, captured: { [pattern.label]: value } }];
}
