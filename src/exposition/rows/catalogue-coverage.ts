// Counts how well the rows of a catalogue cover the objects and variables that a target tracks.
import type { ClassRows } from '../../catalogue/match/row-index.js';
import type { RowInput } from '../../catalogue/row.js';
import type { ValueType } from '../../model.js';

/** How many variables an input matches, and how many of them have a type that its row cannot show. */
interface InputCoverage {
  found: number;
  mistyped: number;
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
  /** The number of variables that no row reads, in objects for which the catalogue has rows. */
  variablesWithoutRow = 0;
  readonly #rowsWithInput: number;
  /** The number of tracked objects. */
  #tracked = 0;
  /** Whether any object has had a class of the catalogue. */
  #hasMatched = false;

  /** @param rowsWithInput how many rows of the catalogue read variables */
  constructor(rowsWithInput: number) {
    this.#rowsWithInput = rowsWithInput;
  }

  /** The number of rows that have an input without a matching variable. */
  get rowsWithoutVariable(): number {
    if (this.#tracked > 0 && !this.#hasMatched) return this.#rowsWithInput;
    return this.#countRows((input) => (this.#inputs.get(input)?.found ?? 0) === 0);
  }

  /** The number of rows that match a variable whose type they cannot show. */
  get rowsOfWrongType(): number {
    return this.#countRows((input) => (this.#inputs.get(input)?.mistyped ?? 0) > 0);
  }

  /** Adds an object, or removes it after its variables, with the rows that read it or objects below it. */
  countObject(sets: readonly ClassRows[], change: 1 | -1): void {
    this.#tracked += change;
    if (sets.length > 0) this.#hasMatched = true;
    for (const set of sets) this.#objects.set(set, (this.#objects.get(set) ?? 0) + change);
  }

  /** Adds or removes a variable of this type, which is the latest of its name, for an input of a row that reads it. */
  countInput(input: RowInput, type: ValueType, change: 1 | -1): void {
    let coverage = this.#inputs.get(input);
    if (coverage === undefined) this.#inputs.set(input, (coverage = { found: 0, mistyped: 0 }));
    coverage.found += change;
    if (!input.types.includes(type)) coverage.mistyped += change;
  }

  /** How many rows of classes with objects have such an input. */
  #countRows(isCounted: (input: RowInput) => boolean): number {
    let count = 0;
    for (const [{ rows }, objects] of this.#objects)
      if (objects > 0) for (const { inputs } of rows) count += Number(inputs.some(isCounted));
    return count;
  }
}
