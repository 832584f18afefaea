// Counts how well the rows of a catalogue cover the objects and variables that a target tracks.
import type { RowMatch, ClassRows } from '../../catalogue/match/row-index.js';
import type { RowInput } from '../../catalogue/row.js';
import type { Variable } from '../../model.js';

interface RowCoverage {
  /** How many of the row's inputs match no variable. */
  missing: number;
  /** How many variables have a type that the row cannot show. */
  mistyped: number;
}

interface InputCoverage {
  readonly row: RowCoverage;
  /** How many variables the input matches. */
  found: number;
}

/**
 * Counts the rows without a variable and the variables without a row, while objects and variables are added and
 * removed. A row is counted while an object of its class exists. Until the first object with a class of the catalogue
 * is added, all rows are counted.
 */
export class CatalogueCoverage {
  /** How many objects the rows of each class apply to. */
  readonly #objects = new Map<ClassRows, number>();
  readonly #inputs = new Map<RowInput, InputCoverage>();
  #variablesWithoutRow = 0;
  readonly #rowsWithInput: number;
  /** The number of tracked objects. */
  #tracked = 0;
  /** Whether any object has had a class of the catalogue. */
  #hasMatched = false;
  #rowsWithoutVariable = 0;
  #rowsOfWrongType = 0;

  /** @param rowsWithInput how many rows of the catalogue read variables */
  constructor(rowsWithInput: number) {
    this.#rowsWithInput = rowsWithInput;
  }

  /** The number of rows that have an input without a matching variable. */
  get rowsWithoutVariable(): number {
    const matchesNothing = this.#tracked > 0 && !this.#hasMatched;
    return matchesNothing ? this.#rowsWithInput : this.#rowsWithoutVariable;
  }

  /** The number of rows that match a variable whose type they cannot show. */
  get rowsOfWrongType(): number {
    return this.#rowsOfWrongType;
  }

  /** The number of variables that no row reads, in objects for which the catalogue has rows. */
  get variablesWithoutRow(): number {
    return this.#variablesWithoutRow;
  }

  /** Adds an object, with the rows that read it or objects below it. */
  addObject(sets: readonly ClassRows[]): void {
    this.#tracked++;
    if (sets.length > 0) this.#hasMatched = true;
    for (const set of sets) this.#addTo(set);
  }

  /** Removes an object. Its variables must have been removed before. */
  removeObject(sets: readonly ClassRows[]): void {
    this.#tracked--;
    for (const set of sets) this.#removeFrom(set);
  }

  /** Adds a variable that is the latest of its name, with the rows that read it. */
  addVariable(variable: Variable, matches: readonly RowMatch[]): void {
    if (matches.length === 0) this.#variablesWithoutRow++;
    for (const { input } of matches) {
      const entry = this.#inputs.get(input);
      if (entry === undefined) continue;
      if (entry.found++ === 0 && --entry.row.missing === 0) this.#rowsWithoutVariable--;
      if (input.types.includes(variable.type)) continue;
      if (entry.row.mistyped++ === 0) this.#rowsOfWrongType++;
    }
  }

  /** Undoes `addVariable`. */
  removeVariable(variable: Variable, matches: readonly RowMatch[]): void {
    if (matches.length === 0) this.#variablesWithoutRow--;
    for (const { input } of matches) {
      const entry = this.#inputs.get(input);
      if (entry === undefined) continue;
      if (--entry.found === 0 && entry.row.missing++ === 0) this.#rowsWithoutVariable++;
      if (input.types.includes(variable.type)) continue;
      if (--entry.row.mistyped === 0) this.#rowsOfWrongType--;
    }
  }

  #addTo(set: ClassRows): void {
    const objects = this.#objects.get(set) ?? 0;
    this.#objects.set(set, objects + 1);
    if (objects > 0) return;
    for (const row of set.rows) {
      const coverage = { missing: row.inputs.length, mistyped: 0 };
      if (coverage.missing > 0) this.#rowsWithoutVariable++;
      for (const input of row.inputs) this.#inputs.set(input, { row: coverage, found: 0 });
    }
  }

  #removeFrom(set: ClassRows): void {
    const objects = this.#objects.get(set) ?? 0;
    if (objects > 1) {
      this.#objects.set(set, objects - 1);
      return;
    }
    this.#objects.delete(set);
    for (const { inputs } of set.rows) {
      if (inputs.length > 0) this.#rowsWithoutVariable--;
      for (const input of inputs) this.#inputs.delete(input);
    }
  }
}
